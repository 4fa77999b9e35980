package anydriver

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/engine"
)

// guard sees to it that the files that are open are those that their names mean:
// SQLite reads and writes a file to the end that somebody deleted or replaced, and all
// that is written to it is gone with the process.
//
// It is asked under the write lock before every transaction, once more before a commit
// is reported, and whenever an idle worker looks for commits.
type guard struct {
	log  *slog.Logger
	name string // of the file, as the program has it; "" if only SQLite knows
	link bool   // the name was a link from the first: it may come to lead elsewhere

	mu   sync.Mutex
	home fileID // the database that this is about; none until a connection was made

	mend  atomic.Pointer[mender] // nil while the database is first opened
	hold  atomic.Pointer[hold]   // what the connections of now have open
	lost  atomic.Pointer[lostError]
	final chan struct{} // closed when only a restart helps
}

// mender opens a lost database anew.
type mender struct{ mend func(context.Context) error }

// hold is what connections have open together. After the database was opened anew
// there is another one.
type hold struct {
	users   int // under the guard's mu: connections that are open for sure
	closing int // under the guard's mu: those that are about to be closed
	seen    atomic.Pointer[sight]
	// torn: the log that is open is not the one beside the file. To close the last
	// connection would bring its pages into the file, over what others wrote.
	torn atomic.Bool
}

// sight is which files were where when they were opened.
type sight struct {
	place
	trio
}

func newGuard(name string, log *slog.Logger) *guard {
	g := &guard{name: name, link: isLink(name), log: engine.Logger(log), final: make(chan struct{})}
	g.hold.Store(&hold{})
	return g
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// enter notes a new connection, and returns what it has open.
func (g *guard) enter(ctx context.Context, ses *session) (*hold, error) {
	var at place
	var now trio
	watched := false
	if watches {
		at = g.locate(ctx, ses)
		var err error
		now, err = at.identify()
		watched = err == nil && at.path != "" && !now.main.none()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hold.Load()
	if watched {
		if g.home.none() {
			g.home = now.main
		}
		if h.users == 0 || h.seen.Load() == nil {
			h.seen.Store(first(at, g.home, now))
		}
		if err := g.judge(h, now); err != nil {
			return nil, err
		}
	}
	h.users++
	return h, nil
}

// first is what the first connection has open. Of another file than the database's
// nothing is taken for ours.
func first(at place, home fileID, now trio) *sight {
	if now.main != home {
		now = trio{main: home}
	}
	return &sight{at, now}
}

// locate asks a connection for its file, and has it look at the first page, which
// opens the log. What cannot be read is told by those who need it.
func (g *guard) locate(ctx context.Context, ses *session) place {
	at := place{name: g.name}
	ses.ctx = ctx
	_ = ses.once("SELECT file FROM pragma_database_list WHERE name = 'main'", func(r engine.Row) error { return r.Scan(&at.path) })
	_ = ses.once("PRAGMA schema_version", nil)
	if at.name == "" {
		at.name = at.path
	}
	return at
}

// admit lets a connection be made, once a lost database was opened anew.
func (g *guard) admit(ctx context.Context) error {
	lost := g.lost.Load()
	if lost == nil {
		return nil
	}
	switch m := g.mend.Load(); ctx.Value(purposeKey{}) {
	case toMend:
		return nil
	case nil:
		if m != nil {
			return m.mend(ctx)
		}
	}
	return lost
}

// leave notes that a connection is about to be closed: SQLite deletes the log with the
// last one, and whoever comes then begins another. Call the result when it is closed.
func (g *guard) leave(h *hold) (closed func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.users--
	h.closing++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		h.closing--
	}
}

// check looks at the files. It costs a few microseconds.
func (g *guard) check() error {
	if lost := g.lost.Load(); lost != nil {
		return lost
	}
	h := g.hold.Load()
	seen := h.seen.Load()
	if seen == nil {
		return nil
	}
	now, err := seen.identify()
	if err != nil || now == seen.trio {
		return nil // a directory that may not be read says nothing about the file
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users == 0 || h != g.hold.Load() {
		return nil // nothing is open
	}
	// Once more: meanwhile the last connection may have taken the log with it, and
	// another come. Now there is one that does not go.
	if now, err = h.seen.Load().identify(); err != nil {
		return nil
	}
	return g.judge(h, now)
}

// committed looks once more, after a commit and before it is reported. What was
// written may be in a file that nobody can find any more.
func (g *guard) committed() error {
	err := g.check()
	if err == nil {
		return nil
	}
	return &engine.Error{Op: "commit", Class: engine.ErrCommitUnknown, Err: err}
}

// judge compares, and tells of the first change. The caller has locked.
func (g *guard) judge(h *hold, now trio) error {
	seen := h.seen.Load()
	what := now.differs(seen.trio)
	if what == unchanged {
		if adopted := seen.adopt(now); adopted != seen.trio {
			h.seen.Store(&sight{seen.place, adopted})
		}
		return nil
	}
	lost := &lostError{path: seen.name, what: what}
	h.torn.Store(what == logChanged)
	if g.lost.CompareAndSwap(nil, lost) {
		g.log.Error("the database's files changed while they were open, nothing is written any more", "error", lost.Error(), "file", seen.name)
	}
	return g.lost.Load()
}

// giveUp notes that only a restart helps, and says so once.
func (g *guard) giveUp(h *hold, lost *lostError) {
	h.torn.Store(lost.what == logChanged)
	g.lost.Store(lost)
	select {
	case <-g.final:
	default:
		close(g.final)
		g.log.Error("the database cannot be opened anew, this program has to be restarted", "error", lost.Error(), "file", lost.path)
	}
}

// used reports whether anybody has the files open.
func (g *guard) used(h *hold) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return h.users+h.closing > 0
}

// renew begins anew, with another file if so said, and returns what puts it back.
func (g *guard) renew(other bool) (back func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	home, before := g.home, g.hold.Load()
	if other {
		g.home = fileID{}
	}
	g.hold.Store(&hold{})
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.home = home
		g.hold.Store(before)
	}
}
