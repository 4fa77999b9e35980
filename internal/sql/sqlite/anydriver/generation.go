package anydriver

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// generationCheckInterval is the longest time between a writer's checks of the generation. A
// check costs a few microseconds, within a transaction that runs anyway.
const generationCheckInterval = time.Second

// dropCaches drops what is kept in memory of an earlier history.
func (db *DB) dropCaches() {
	db.ids.Drop()
	db.given.Store(0)
}

// generationLeases ends every lease; tokens continue above Token.
type generationLeases struct {
	engine.Changes
	Token int64
}

// generationSkipIDs makes ids up to Last unavailable.
type generationSkipIDs struct {
	engine.Changes
	Last int64
}

// generationRaise begins a new generation.
type generationRaise struct {
	engine.Changes
	Place string // identifies the file that it is written in
}

// generationRead reads the generation.
type generationRead struct{ engine.Rows[generation] }

// generation is its row.
type generation struct {
	Mark   string
	Number int64
	Place  string
	Last   int64 // allocated id, which never decreases
}

// generationWaiters deletes all waiters for leases.
type generationWaiters struct{ engine.Changes }

// generationWorkers deletes all workers.
type generationWorkers struct{ engine.Changes }

func (t *txn) generation() (generation, error) {
	g, _, err := one(t, generationRead{})
	return g, err
}

// needsGeneration reports whether jobs need the current generation.
func needsGeneration(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool {
		return slices.ContainsFunc(j.calls, func(c *engine.Call) bool { return isLook(c) || isAcquire(c) })
	})
}

func isLook(c *engine.Call) bool {
	_, ok := c.Operation.(op.GenerationCheck)
	return ok
}

// isAcquire reports whether a call takes a lease, whose token carries the generation.
func isAcquire(c *engine.Call) bool {
	_, ok := c.Operation.(op.LeaseAcquire)
	return ok
}

// checkGeneration reads the generation if that is wanted, if the connection is new, or if the
// interval has passed. A generation that begins with that is committed at once: what is
// cached from here on must not depend on the work that follows.
func (db *DB) checkGeneration(ctx context.Context, t *txn, s *session, wanted bool) error {
	now := time.Now()
	if !wanted && s.generationChecked && now.Sub(db.generationChecked) < generationCheckInterval {
		return nil
	}
	changed, err := t.renewGeneration()
	if err != nil {
		return nil //nolint:nilerr // there may be no schema yet; statements that need one fail themselves
	}
	if changed {
		if _, err := s.exec(commit, nil); err != nil {
			return err
		}
		if err := beginImmediate(ctx, s.dc); err != nil {
			return err
		}
	}
	s.generationChecked, db.generationChecked = true, now
	return t.observeGeneration()
}

// renewGeneration begins a new generation in a copy, which is in another file than the one
// recorded, and in a file that is behind what this process has seen of it: a copy was
// restored.
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
	if err := t.do(generationRaise{Place: place}); err != nil {
		return false, err
	}
	if behind {
		err = t.do(generationSkipIDs{Last: known.Written})
	}
	return true, err
}

// observeGeneration records the generation.
func (t *txn) observeGeneration() error {
	known := t.db.generations.State()
	g, err := t.generation()
	if err != nil {
		return err
	}
	t.db.generations.Observe(engine.HistoryState{Mark: g.Mark, Written: g.Last}, known)
	return nil
}

// place identifies the file of this database; empty where the system does not identify
// files.
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

// restoreGap is how many ids are skipped after a restore, for those that were allocated after
// the backup was made.
const restoreGap = 1 << 32

func restored(t *txn, _ op.GenerationRestored) (int64, error) {
	if err := t.do(generationRaise{Place: t.place()}, outboxReserve{N: restoreGap}); err != nil {
		return 0, err
	}
	g, err := t.generation()
	if err != nil {
		return 0, err
	}
	if err := t.do(generationLeases{Token: g.Number << engine.TokenBits}, generationWaiters{}, generationWorkers{}); err != nil {
		return 0, err
	}
	_, err = adoptLanes(t, nil)
	return g.Number, err
}
