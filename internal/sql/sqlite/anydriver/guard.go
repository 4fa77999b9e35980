package anydriver

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/engine"
)

// guard checks that the open files are still those at the database's path: SQLite goes on
// reading and writing a file that was deleted or replaced, and everything that is written to
// it is lost when the process ends.
//
// It is called under the write lock before every transaction, again before a commit is
// reported, and whenever an idle worker polls for commits.
type guard struct {
	log  *slog.Logger
	name string // of the file, as given by the program; "" if only SQLite knows it
	link bool   // the name was a link when it was opened: it may point elsewhere later

	mu  sync.Mutex
	own fileID // the database's file; zero until a connection was made

	reopener atomic.Pointer[reopener]  // nil while the database is opened first
	open     atomic.Pointer[openFiles] // of the current connections
	lost     atomic.Pointer[lostError]
	final    chan struct{} // closed when only a restart helps
}

// reopener opens a lost database again.
type reopener struct{ reopen func(context.Context) error }

// openFiles are the files that connections have open together. After the database was opened
// again there is another value.
type openFiles struct {
	users   int // guarded by guard.mu: open connections
	closing int // guarded by guard.mu: connections that are being closed
	seen    atomic.Pointer[fileState]
	// logReplaced means that the open log is not the one at the path. Closing the last
	// connection would checkpoint it into the file, over what others wrote.
	logReplaced atomic.Bool
}

// fileState is the place and identity of the files when they were opened.
type fileState struct {
	place
	fileSet
}

func newGuard(name string, log *slog.Logger) *guard {
	g := &guard{name: name, link: isLink(name), log: engine.Logger(log), final: make(chan struct{})}
	g.open.Store(&openFiles{})
	return g
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// enter adds a new connection, and returns the files it has open.
func (g *guard) enter(ctx context.Context, ses *session) (*openFiles, error) {
	var at place
	var now fileSet
	watched := false
	if watches {
		at = g.locate(ctx, ses)
		var err error
		now, err = at.identify()
		watched = err == nil && at.path != "" && !now.main.missing()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.open.Load()
	if watched {
		if g.own.missing() {
			g.own = now.main
		}
		if h.users == 0 || h.seen.Load() == nil {
			h.seen.Store(first(at, g.own, now))
		}
		if err := g.compareLocked(h, now); err != nil {
			return nil, err
		}
	}
	h.users++
	return h, nil
}

// first returns the state for the first connection. If the file is not the database's own,
// its log and index are not recorded.
func first(at place, own fileID, now fileSet) *fileState {
	if now.main != own {
		now = fileSet{main: own}
	}
	return &fileState{at, now}
}

// locate reads the path of a connection's file, and makes it read the first page, which opens
// the log. Errors are left for later statements to report. It does not end with the caller's context:
// a connection that has not opened the log does not keep others from deleting it and beginning
// another, which would count as a loss.
func (g *guard) locate(ctx context.Context, ses *session) place {
	at := place{name: g.name}
	ses.ctx = context.WithoutCancel(ctx)
	_ = ses.once("SELECT file FROM pragma_database_list WHERE name = 'main'", func(r engine.Row) error { return r.Scan(&at.path) })
	_ = ses.once("PRAGMA schema_version", nil)
	if at.name == "" {
		at.name = at.path
	}
	return at
}

// admit allows a connection to be made; a lost database is opened again first.
func (g *guard) admit(ctx context.Context) error {
	lost := g.lost.Load()
	if lost == nil {
		return nil
	}
	switch m := g.reopener.Load(); ctx.Value(purposeKey{}) {
	case toReopen:
		return nil
	case nil:
		if m != nil {
			return m.reopen(ctx)
		}
	}
	return lost
}

// leave records that a connection is about to be closed: SQLite deletes the log with the last
// one, and the next connection creates another. Call closed after closing it.
func (g *guard) leave(h *openFiles) (closed func()) {
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

// check compares the files. It costs a few microseconds.
func (g *guard) check() error {
	if lost := g.lost.Load(); lost != nil {
		return lost
	}
	h := g.open.Load()
	seen := h.seen.Load()
	if seen == nil {
		return nil
	}
	now, err := seen.identify()
	if err != nil || now == seen.fileSet {
		return nil // a directory that cannot be read says nothing about the file
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users == 0 || h != g.open.Load() {
		return nil // nothing is open
	}
	// Again, now that users is known to be above 0: the last connection may have deleted the
	// log meanwhile, and a new one created another.
	if now, err = h.seen.Load().identify(); err != nil {
		return nil
	}
	return g.compareLocked(h, now)
}

// committed checks again after a commit, before that is reported: it may have been written to
// a deleted file.
func (g *guard) committed() error {
	err := g.check()
	if err == nil {
		return nil
	}
	return &engine.Error{Op: "commit", Class: engine.ErrCommitUnknown, Err: err}
}

// compareLocked compares the files and records the first change. The caller holds mu.
func (g *guard) compareLocked(h *openFiles, now fileSet) error {
	seen := h.seen.Load()
	what := now.differs(seen.fileSet)
	if what == unchanged {
		if adopted := seen.adopt(now); adopted != seen.fileSet {
			h.seen.Store(&fileState{seen.place, adopted})
		}
		return nil
	}
	lost := &lostError{path: seen.name, what: what}
	h.logReplaced.Store(what == logChanged)
	if g.lost.CompareAndSwap(nil, lost) {
		g.log.Error("the database's files changed while they were open, nothing is written any more", "error", lost.Error(), "file", seen.name)
	}
	return g.lost.Load()
}

// markFinal records that only a restart helps, and logs it once.
func (g *guard) markFinal(h *openFiles, lost *lostError) {
	h.logReplaced.Store(lost.what == logChanged)
	g.lost.Store(lost)
	select {
	case <-g.final:
	default:
		close(g.final)
		g.log.Error("the database cannot be opened anew, this program has to be restarted", "error", lost.Error(), "file", lost.path)
	}
}

// inUse reports whether any connection has the files open.
func (g *guard) inUse(h *openFiles) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return h.users+h.closing > 0
}

// reset starts with no open files, or with another database if other is true; back undoes it.
func (g *guard) reset(other bool) (back func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own, before := g.own, g.open.Load()
	if other {
		g.own = fileID{}
	}
	g.open.Store(&openFiles{})
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.own = own
		g.open.Store(before)
	}
}

// fileID is a device and inode, which identify an open file; a name may mean another later.
type fileID struct{ dev, ino uint64 }

// missing reports whether there is no such file.
func (f fileID) missing() bool { return f == fileID{} }

// fileSet is a database file and the files that SQLite keeps beside it in WAL mode while it
// is open: the log, and the index of the log, which holds the locks.
type fileSet struct{ main, log, index fileID }

// place is the location of a database's files: its name, which may be a link, and the path
// that SQLite resolved it to, beside which it creates its own files.
type place struct{ name, path string }

// identify returns the files that exist now.
func (p place) identify() (t fileSet, err error) {
	for _, f := range [...]struct {
		id   *fileID
		name string
	}{{&t.main, p.name}, {&t.log, p.path + "-wal"}, {&t.index, p.path + "-shm"}} {
		if *f.id, err = identify(f.name); err != nil {
			return t, err
		}
	}
	return t, nil
}

// change is what happened to the files of an open database.
type change int

const (
	unchanged  change = iota
	gone              // the database was moved or deleted
	replaced          // there is another file in its place
	logGone           // its log, or the log's index, was deleted
	logChanged        // its log was replaced by another one
)

// differs returns what changed since the files were as in seen. SQLite deletes log and index
// only when no connection is open any more.
func (t fileSet) differs(seen fileSet) change {
	switch {
	case t.main.missing():
		return gone
	case t.main != seen.main:
		return replaced
	}
	found := unchanged
	for _, beside := range [...][2]fileID{{t.log, seen.log}, {t.index, seen.index}} {
		switch now, before := beside[0], beside[1]; {
		case now == before, before.missing():
		case now.missing():
			found = max(found, logGone)
		default:
			found = logChanged
		}
	}
	return found
}

// adopt fills in files that did not exist at first: opening a file that is not in WAL mode
// creates no log.
func (t fileSet) adopt(now fileSet) fileSet {
	if t.log.missing() {
		t.log = now.log
	}
	if t.index.missing() {
		t.index = now.index
	}
	return t
}

// lostError is the error of a database whose files changed. It is an engine.ErrFileLost.
type lostError struct {
	path string
	what change
	why  error // it was not opened again; may be nil
}

// Error names the file, what happened to it and what to do about it.
func (e *lostError) Error() string {
	text := engine.ErrFileLost.Error() + ": " + e.path
	switch e.what {
	case gone:
		text += " was moved or deleted: put it back, or restart the program"
	case replaced:
		text += " was replaced by another file"
	case logGone:
		text += ": its -wal or -shm was deleted while the database was open"
	case logChanged:
		text += ": its -wal or -shm was deleted while the database was open, and another begun: what was committed since then by this program may be lost; restart it"
	}
	if e.why != nil {
		text += fmt.Sprintf(" (%v)", e.why)
	}
	return text
}

// Unwrap returns the class and why the database was not opened again.
func (e *lostError) Unwrap() []error {
	if e.why == nil {
		return []error{engine.ErrFileLost}
	}
	return []error{engine.ErrFileLost, e.why}
}
