package postgres

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/engine"
)

// A claim wants to know two things that only the last claim could tell: how
// long runs are at the moment, and where the live part of the index begins.

const (
	// markMargin keeps runs that commit a little late above the mark.
	markMargin = 2 * time.Second
	// markEvery is how often a claim ignores the mark, to find what lies below:
	// messages with a due time in the past.
	markEvery = time.Second
)

// tuner remembers what the last claims of one queue saw.
type tuner struct {
	mu       sync.Mutex
	perRow   float64   // messages per ready row
	mark     time.Time // zero: no mark
	lastFull time.Time
}

// tune adds the engine's own parameters to a call and reads its own columns
// off the answer. finish, if not nil, is to be called when the call succeeded.
func (db *DB) tune(c *engine.Call) (args []any, each func(engine.Row) error, finish func()) {
	if c.Op != "outbox/claim" {
		return c.Args, c.Each, nil
	}
	stored, _ := db.tuners.LoadOrStore(c.Args[0], &tuner{perRow: 1})
	t := stored.(*tuner)
	want := c.Args[3].(int)
	rows, from, full := t.hint(want, time.Now())
	seen := &claimed{}
	each = func(r engine.Row) error {
		seen.row = r
		seen.n++
		return c.Each(seen)
	}
	return append(c.Args[:len(c.Args):len(c.Args)], rows, from), each, func() { t.learn(want, full, seen) }
}

// hint returns how many ready rows to look at first and where to begin.
func (t *tuner) hint(want int, now time.Time) (rows int, from any, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows = int(float64(want)/t.perRow) + 1
	if t.mark.IsZero() || now.Sub(t.lastFull) >= markEvery {
		t.lastFull = now
		return rows, pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, true
	}
	return rows, t.mark.Add(-markMargin), false
}

func (t *tuner) learn(want int, full bool, seen *claimed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seen.n < want {
		t.mark = time.Time{} // short: look everywhere next time
	} else if full || seen.oldest.After(t.mark) {
		t.mark = seen.oldest
	}
	if seen.n > 0 && seen.length > 0 {
		t.perRow = max(1, (t.perRow+float64(seen.length))/2)
	}
}

// claimed is a row of a claim; it keeps the two columns that are the engine's.
type claimed struct {
	row    engine.Row
	n      int
	oldest time.Time
	length int // how long the ready rows were that this claim used, on average
	at     time.Time
	dest   []any
}

// Scan fills dest with the columns of the contract.
func (c *claimed) Scan(dest ...any) error {
	c.dest = append(append(c.dest[:0], dest...), &c.at, &c.length)
	if err := c.row.Scan(c.dest...); err != nil {
		return err
	}
	if c.oldest.IsZero() || c.at.Before(c.oldest) {
		c.oldest = c.at
	}
	return nil
}
