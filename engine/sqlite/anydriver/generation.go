package anydriver

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/engine/op"
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

// generationOperation returns what answers an operation on the generation in Go.
func generationOperation(name string) opFunc {
	switch name {
	case "look":
		return func(t *txn, _ *engine.Call) error { return t.look() } // behind lookSometimes
	case "restored":
		return restored
	}
	return nil
}

// generation is the row of it.
type generation struct {
	mark   string
	number int64
	place  string
	last   int64 // id handed out
}

func (t *txn) generation() (g generation, err error) {
	err = t.query("generation/look", func(r engine.Row) error { return r.Scan(&g.mark, &g.number, &g.place, &g.last) })
	return g, err
}

// looks reports whether jobs need to know the generation as it is now.
func looks(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool {
		return slices.ContainsFunc(j.calls, func(c *engine.Call) bool { return c.Name() == "generation/look" || isAcquire(c) })
	})
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
	known := t.db.generations.Known()
	g, err := t.generation()
	if err != nil {
		return false, err
	}
	behind := known.Mark == g.mark && g.last < known.Written
	place := t.place()
	if (place == "" || place == g.place) && !behind {
		return false, nil
	}
	if _, err := t.exec("generation/raise", place); err != nil {
		return false, err
	}
	if behind {
		_, err = t.exec("generation/move_on", known.Written)
	}
	return true, err
}

// look takes note of the generation.
func (t *txn) look() error {
	known := t.db.generations.Known()
	g, err := t.generation()
	if err != nil {
		return err
	}
	t.db.generations.Saw(engine.Sight{Mark: g.mark, Written: g.last}, known)
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

// restored: what is to be done after a restore, whatever it was: a new generation, ids
// and fencing tokens above everything that may have been given out, and nobody holds a
// lease or counts as working. Answers the generation's number.
func restored(t *txn, c *engine.Call) error {
	if _, err := t.exec("generation/raise", t.place()); err != nil {
		return err
	}
	if _, err := t.do(outboxReserve{N: restoreGap}); err != nil {
		return err
	}
	g, err := t.generation()
	if err != nil {
		return err
	}
	if _, err := t.exec("generation/leases", g.number<<engine.TokenBits); err != nil {
		return err
	}
	for _, statement := range []string{"generation/waiters", "generation/workers"} {
		if _, err := t.exec(statement); err != nil {
			return err
		}
	}
	if _, err := adoptLanes(t, nil); err != nil {
		return err
	}
	return answer(c, g.number)
}
