package postgres

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// A claim uses what the last claims of the queue measured: how long runs are at the moment, and where
// the live part of the index begins, the mark. Below the mark lie the entries of what was claimed,
// until a vacuum removes them, which it cannot while an old snapshot is open. Messages become ready there,
// too: with a due time in the past, released, committed late. Therefore only claims of the worker loop,
// which claims again at once, start at the mark. One that is not full also reads what is below the
// mark, in the same statement (see outbox_claim_ranges): all of it, as long as that is little, and
// otherwise a part (see sweep). So that full ones leave nothing for long, one a second reads that first.
const (
	// markMargin keeps runs that commit a little late above the mark.
	markMargin = 2 * time.Second
	// Where the part below is large, so is the margin, with 800 entries at 400 messages a second: most
	// claims read what is near the mark, and one every nearEvery all of the margin.
	nearMargin = 200 * time.Millisecond
	nearEvery  = 50 * time.Millisecond
	// belowEvery is the loop's poll interval.
	belowEvery = time.Second
)

// tuner keeps what the last claims of one queue measured.
type tuner struct {
	mu        sync.Mutex
	perRow    float64   // messages per ready row
	mark      time.Time // zero: no mark
	nextBelow time.Time // when a claim is to read what is below the mark first
	nextNear  time.Time // when one is to read all of the margin
	below     sweep     // of what is below the mark
}

type tunedRow struct {
	op.OutboxClaimed
	At     time.Time
	Length int
}

// outboxClaim is op.OutboxClaim with what the last ones measured.
type outboxClaim struct {
	engine.Rows[tunedRow]
	Queue    string
	Owner    [16]byte
	Lease    time.Duration
	Most     int
	First    int                  // how many ready rows to read first
	From, To []pgtype.Timestamptz // the ranges to read, one after the other
	Wait     *time.Duration
	Apart    *string
}

// outboxNextDueFrom is op.OutboxNextDue of what is not below the mark, if there is much.
type outboxNextDueFrom struct {
	engine.Rows[op.Wait]
	Queue string
	From  pgtype.Timestamptz
}

// outboxReapPart is op.OutboxReap of a part of the table.
type outboxReapPart struct {
	engine.Number `call:"outbox_reap_runs"`
	Most, Keep    int
	Turn          *int64 // nil: of all
}

// tuned reports whether the engine adds parameters to an operation.
func tuned(o engine.Operation) bool {
	_, claims := o.(op.OutboxClaim)
	return claims
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
		t := db.tunerOf(o.Queue)
		seen := &claimed{began: time.Now(), byLoop: !o.Freed, all: o.All}
		rows, ranges := t.hint(o.Most, seen)
		if seen.parts { // a priority that waits is met by the parts: to look for it would read what they are for
			o.Wait = nil
		}
		claim := outboxClaim{Queue: o.Queue, Owner: o.Owner, Lease: o.Lease, Most: o.Most, First: rows, From: bounds(ranges, 0), To: bounds(ranges, 1), Wait: o.Wait, Apart: o.Apart}
		return claim, seen.each(c), func() { t.learn(o.Most, seen, time.Now()) }
	case op.OutboxNextDue:
		return outboxNextDueFrom{Queue: o.Queue, From: db.tunerOf(o.Queue).live()}, c.Each, nil
	case op.OutboxReap:
		reap := outboxReapPart{Most: o.Most, Keep: o.Keep}
		if turn := db.reaps.Add(1); !o.All {
			reap.Turn = &turn
		}
		return reap, c.Each, nil
	case op.TimerDispatch:
		from, to := db.timers.Load().dispatch()
		return timerDispatchRange{Most: o.Most, From: timestamp(from), To: timestamp(to)}, c.Each, nil
	case op.TimerNextDue:
		t := db.timers.Load()
		next, read := t.next()
		return next, read.each(c), func() { t.learn(read, time.Now()) }
	}
	return single(c.Operation), c.Each, nil
}

func (db *DB) tunerOf(queue string) *tuner {
	stored, ok := db.tuners.Load(queue)
	if !ok {
		stored, _ = db.tuners.LoadOrStore(queue, &tuner{perRow: 1})
	}
	return stored.(*tuner)
}

// bounds returns the lower (0) or upper (1) ends of ranges, in microseconds.
func bounds(ranges [][2]int64, end int) []pgtype.Timestamptz {
	times := make([]pgtype.Timestamptz, len(ranges))
	for i, r := range ranges {
		if r[end] != top { // null: now, by the server's clock
			times[i] = timestamp(r[end])
		}
	}
	return times
}

// timestamp converts microseconds.
func timestamp(micros int64) pgtype.Timestamptz {
	switch micros {
	case bottom:
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	case top:
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: time.UnixMicro(micros), Valid: true}
}

// hint returns how many ready rows to read first, and which ranges of due times.
func (t *tuner) hint(want int, c *claimed) (rows int, ranges [][2]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows = int(float64(want)/t.perRow) + 1
	c.low = bottom
	if !c.byLoop || t.mark.IsZero() {
		return rows, [][2]int64{{bottom, top}}
	}
	c.from = t.mark.Add(-markMargin)
	fresh, below := [2]int64{c.from.UnixMicro(), top}, [2]int64{bottom, c.from.UnixMicro()}
	c.parts = t.below.width > 0 && !c.all
	if c.parts {
		below[0], below[1] = t.below.part(below[1])
		c.low = below[0]
	}
	if c.parts && c.began.Before(t.nextNear) {
		fresh[0] = t.mark.Add(-nearMargin).UnixMicro()
	} else {
		t.nextNear = c.began.Add(nearEvery)
	}
	if c.began.Before(t.nextBelow) {
		return rows, [][2]int64{fresh, below}
	}
	t.nextBelow = c.began.Add(belowEvery)
	c.first = true
	return rows, [][2]int64{below, fresh}
}

func (t *tuner) learn(want int, c *claimed, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	whole := c.from.IsZero()
	if c.reported && c.byLoop && !c.all && (c.n < want || whole || c.first && !c.oldest.Before(c.from)) {
		t.below.learn(c.low, c.read-c.n, now)
	}
	switch {
	case c.n < want && t.below.width > 0 && c.reported:
		t.mark = c.at.Time // the claim has read what was above
	case c.n < want:
		t.mark = time.Time{} // nothing is left: start at the beginning next time
	case whole || c.oldest.After(t.mark):
		t.mark = c.oldest
	}
	if c.n > 0 && c.length > 0 {
		t.perRow = max(1, (t.perRow+float64(c.length))/2)
	}
}

// live returns where to look for what is due next.
func (t *tuner) live() pgtype.Timestamptz {
	t.mu.Lock()
	defer t.mu.Unlock()
	return timestamp(t.below.from(t.mark))
}

// claimed is a claim, and each row of it in turn; it keeps the two columns that are the
// engine's.
type claimed struct {
	began    time.Time
	byLoop   bool      // it is a worker loop's, which claims again at once
	all      bool      // if it is not full it has read everything
	first    bool      // what is below the mark
	parts    bool      // of that
	from     time.Time // where it starts to read what is not below the mark; zero: it reads all
	low      int64     // where it ends to read what is
	row      engine.Row
	n        int
	oldest   time.Time
	length   int                // how long the ready rows were that this claim used, on average
	at       pgtype.Timestamptz // it may be infinite
	dest     []any
	reported bool
	read     int // entries of the ranges below the mark
}

// each passes rows on but for the report, the last one, which has no message.
func (c *claimed) each(call *engine.Call) func(engine.Row) error {
	return func(r engine.Row) error {
		if r, ok := r.(*row); ok && r.rows.RawValues()[0] == nil {
			c.reported = true
			return r.scanLast(&c.at, &c.read)
		}
		c.row = r
		c.n++
		return call.Each(c)
	}
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
