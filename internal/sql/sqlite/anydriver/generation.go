package anydriver

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// lookEvery is how long a writer goes without a look at the generation. A look costs
// a few microseconds, within a transaction that is there anyway.
const lookEvery = time.Second

// Generation changes with the database's history; see engine.DB.
func (db *DB) Generation() int64 { return db.generations.Generation() }

// HistoryChanges returns how often this process saw the database's history change.
func (db *DB) HistoryChanges() int64 { return db.generations.Changes() }

// forget drops what is remembered of a history that is gone.
func (db *DB) forget() {
	db.ids.Drop()
	db.given.Store(0)
}

// generations adds what answers an operation on the generation.
func (a answers) generations() {
	listing(a, func(t *txn, _ op.GenerationLook, _ func(engine.Row) error) error { return t.look() }) // behind lookSometimes
	counting(a, restored)
}

func generationStatements() []engine.Operation {
	return []engine.Operation{
		generationLeases{}, generationMoveOn{}, generationRaise{}, generationRead{}, generationWaiters{}, generationWorkers{},
	}
}

// generationLeases takes every lease from whoever has it; tokens go on above Token.
type generationLeases struct {
	engine.Changes
	Token int64
}

// generationMoveOn sees to it that no ids up to Last are handed out any more.
type generationMoveOn struct {
	engine.Changes
	Last int64
}

// generationRaise begins a new generation.
type generationRaise struct {
	engine.Changes
	Place string // the file that it is written in
}

// generationRead reads which generation this is.
type generationRead struct{ engine.Rows[generation] }

// generation is the row of it.
type generation struct {
	Mark   string
	Number int64
	Place  string
	Last   int64 // id handed out, which never goes back
}

// generationWaiters has nobody wait for a lease.
type generationWaiters struct{ engine.Changes }

// generationWorkers has nobody count as working.
type generationWorkers struct{ engine.Changes }

func (t *txn) generation() (generation, error) {
	g, _, err := one(t, generationRead{})
	return g, err
}

// looks reports whether jobs need to know the generation as it is now.
func looks(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool {
		return slices.ContainsFunc(j.calls, func(c *engine.Call) bool { return isLook(c) || isAcquire(c) })
	})
}

func isLook(c *engine.Call) bool {
	_, ok := c.Operation.(op.GenerationLook)
	return ok
}

// isAcquire reports whether a call takes a lease, whose token carries the generation.
func isAcquire(c *engine.Call) bool {
	_, ok := c.Operation.(op.LeaseAcquire)
	return ok
}

// lookSometimes looks at the generation on a connection that is new or where that is
// wanted, and else if nobody has for a while. A generation that begins with that is committed at once:
// what is remembered from here on must not depend on the work that follows.
func (db *DB) lookSometimes(ctx context.Context, t *txn, s *session, wanted bool) error {
	now := time.Now()
	if !wanted && s.looked && now.Sub(db.looked) < lookEvery {
		return nil
	}
	changed, err := t.renewGeneration()
	if err != nil {
		return nil //nolint:nilerr // there may be no schema yet; what needs one says so itself
	}
	if changed {
		if _, err := s.exec("COMMIT", nil); err != nil {
			return err
		}
		if err := beginImmediate(ctx, s.dc); err != nil {
			return err
		}
	}
	s.looked, db.looked = true, now
	return t.look()
}

// renewGeneration begins a new generation in a copy, which lies in another file than
// it was written in, and in a file that fell behind what this process has seen of it:
// somebody put a copy back.
func (t *txn) renewGeneration() (changed bool, err error) {
	known := t.db.generations.State()
	g, err := t.generation()
	if err != nil {
		return false, err
	}
	behind := known.Mark == g.Mark && g.Last < known.Written
	place := t.place()
	if (place == "" || place == g.Place) && !behind {
		return false, nil
	}
	if _, err := t.do(generationRaise{Place: place}); err != nil {
		return false, err
	}
	if behind {
		_, err = t.do(generationMoveOn{Last: known.Written})
	}
	return true, err
}

// look takes note of the generation.
func (t *txn) look() error {
	known := t.db.generations.State()
	g, err := t.generation()
	if err != nil {
		return err
	}
	t.db.generations.Observe(engine.HistoryState{Mark: g.Mark, Written: g.Last}, known)
	return nil
}

// place is the file of this database as the system tells files apart; empty where it
// does not.
func (t *txn) place() string {
	var path string
	s, ok := t.run.(*session)
	if !ok {
		return ""
	}
	_ = s.query("PRAGMA database_list", nil, func(r engine.Row) error {
		var nr int64
		var name, file string
		if err := r.Scan(&nr, &name, &file); err == nil && name == "main" {
			path = file
		}
		return nil
	})
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fileNumber(info)
}

// restoreGap is how many ids are left out after a restore, for those that were given
// out after the backup was made.
const restoreGap = 1 << 32

func restored(t *txn, _ op.GenerationRestored) (int64, error) {
	if _, err := t.do(generationRaise{Place: t.place()}); err != nil {
		return 0, err
	}
	if _, err := t.do(outboxReserve{N: restoreGap}); err != nil {
		return 0, err
	}
	g, err := t.generation()
	if err != nil {
		return 0, err
	}
	for _, statement := range []engine.Operation{generationLeases{Token: g.Number << engine.TokenBits}, generationWaiters{}, generationWorkers{}} {
		if _, err := t.do(statement); err != nil {
			return 0, err
		}
	}
	_, err = adoptLanes(t, nil)
	return g.Number, err
}
