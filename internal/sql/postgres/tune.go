package postgres

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// A claim uses two values that the last claim measured: how long runs are at the moment, and
// where the live part of the index begins, the mark. A claim that is not full also reads what
// is below the mark, in the same statement (see outbox_claim_queue), so nothing is missed; but
// a full one may leave older messages below it: with a due time in the past, released,
// committed late. Therefore only claims of the worker loop, which claims again at once, start
// at the mark, and not all of them do.
const (
	// markMargin keeps runs that commit a little late above the mark.
	markMargin = 2 * time.Second
	// Claims from the beginning take at most one part in fullShare of a loop's time, but
	// there is one every markEvery, the loop's poll interval.
	fullShare = 10
	markEvery = time.Second
)

// tuner keeps what the last claims of one queue measured.
type tuner struct {
	mu       sync.Mutex
	perRow   float64   // messages per ready row
	mark     time.Time // zero: no mark
	nextFull time.Time // when a loop's claim is to start at the beginning again
}

// claimParams are a claim's parameters that the engine adds.
type claimParams struct {
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
	Rows  int                // how many ready rows to read first
	From  pgtype.Timestamptz // where to start
}

type tunedRow struct {
	op.OutboxClaimed
	At     time.Time
	Length int
}

type outboxClaim struct {
	engine.Rows[tunedRow]
	claimParams
	Wait  *time.Duration
	Apart *string
}

type outboxClaimAny struct {
	engine.Rows[tunedRow]
	claimParams
}

// tuned reports whether the engine adds parameters to an operation.
func tuned(o engine.Operation) bool {
	switch o.(type) {
	case op.OutboxClaim, op.OutboxClaimAny:
		return true
	}
	return false
}

// tune adds the engine's own parameters to an operation and reads its own columns of the
// result. finish, if not nil, is to be called when the call succeeded.
func (db *DB) tune(c *engine.Call) (o engine.Operation, each func(engine.Row) error, finish func()) {
	if _, looks := c.Operation.(op.GenerationCheck); looks {
		each, finish = db.history.Rows()
		return c.Operation, each, finish
	}
	switch o := c.Operation.(type) {
	case op.OutboxClaim:
		p, each, finish := db.claiming(c, claimParams{Queue: o.Queue, Owner: o.Owner, Lease: o.Lease, Most: o.Most}, !o.Freed)
		return outboxClaim{claimParams: p, Wait: o.Wait, Apart: o.Apart}, each, finish
	case op.OutboxClaimAny:
		p, each, finish := db.claiming(c, claimParams{Queue: o.Queue, Owner: o.Owner, Lease: o.Lease, Most: o.Most}, false)
		return outboxClaimAny{claimParams: p}, each, finish
	}
	return single(c.Operation), c.Each, nil
}

// claiming tunes a claim. loops means that it is a worker loop's, for which nothing older has
// become ready.
func (db *DB) claiming(c *engine.Call, p claimParams, loops bool) (claimParams, func(engine.Row) error, func()) {
	stored, ok := db.tuners.Load(p.Queue)
	if !ok {
		stored, _ = db.tuners.LoadOrStore(p.Queue, &tuner{perRow: 1})
	}
	t := stored.(*tuner)
	seen := &claimed{began: time.Now(), byLoop: loops}
	p.Rows, p.From = t.hint(p.Most, seen)
	each := func(r engine.Row) error {
		seen.row = r
		seen.n++
		return c.Each(seen)
	}
	return p, each, func() { t.learn(p.Most, seen, time.Now()) }
}

// hint returns how many ready rows to read first and where to start.
func (t *tuner) hint(want int, c *claimed) (rows int, from pgtype.Timestamptz) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows = int(float64(want)/t.perRow) + 1
	if c.byLoop && !t.mark.IsZero() && c.began.Before(t.nextFull) {
		return rows, pgtype.Timestamptz{Time: t.mark.Add(-markMargin), Valid: true}
	}
	c.full = true
	if c.byLoop {
		t.nextFull = c.began.Add(markEvery)
	}
	return rows, pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
}

func (t *tuner) learn(want int, seen *claimed, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seen.byLoop && seen.full {
		t.nextFull = now.Add(min(fullShare*now.Sub(seen.began), markEvery))
	}
	if seen.n < want {
		t.mark = time.Time{} // nothing is left: start at the beginning next time
	} else if seen.full || seen.oldest.After(t.mark) {
		t.mark = seen.oldest
	}
	if seen.n > 0 && seen.length > 0 {
		t.perRow = max(1, (t.perRow+float64(seen.length))/2)
	}
}

// claimed is a claim, and each row of it in turn; it keeps the two columns that are the
// engine's.
type claimed struct {
	began  time.Time
	byLoop bool // it is a worker loop's, which claims again at once
	full   bool // it did not start at the mark
	row    engine.Row
	n      int
	oldest time.Time
	length int                // how long the ready rows were that this claim used, on average
	at     pgtype.Timestamptz // it may be infinite
	dest   []any
}

// Scan fills dest with the columns of the operation.
func (c *claimed) Scan(dest ...any) error {
	c.dest = append(append(c.dest[:0], dest...), &c.at, &c.length)
	err := c.row.Scan(c.dest...)
	if c.oldest.IsZero() || c.at.Time.Before(c.oldest) {
		c.oldest = c.at.Time
	}
	return err
}
