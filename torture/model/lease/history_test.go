package model_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/torture/internal/leasetest"
)

// D-60, D-61, D-62, D-64: eight contenders, each with a database handle of its
// own, acquire, write under the guard, pause for longer and shorter than the
// lease, and close. What they saw could have happened one after the other: there
// is never a second holder while the first is well, tokens grow by one, and no
// write of a stale holder is let through.
func TestHistoryOfContenders(t *testing.T) { dbtest.Each(t, testHistoryOfContenders) }

func testHistoryOfContenders(t *testing.T, e dbtest.Engine) {
	if e.Name == "sqlite" { // time is the process's own: hours of it cost seconds
		synctest.Test(t, func(t *testing.T) { contend(t, e, 30*time.Second, 20*time.Minute) })
		return
	}
	contend(t, e, 4*time.Second, 16*time.Second)
}

func contend(t *testing.T, e dbtest.Engine, d, limit time.Duration) {
	db := e.Open(t)
	if _, err := db.SQL.ExecContext(t.Context(), "CREATE TABLE "+db.Table("effects")+" (token BIGINT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	var all history
	var wg sync.WaitGroup
	start := time.Now()
	for i := range 8 {
		gate := &gate{DB: db.Another(t)}
		c := &contender{Leases: parts.NewLeases(gate, "", nil), t: t, db: db, gate: gate, client: i, all: &all, d: d, rnd: rand.New(rand.NewPCG(7, uint64(i)))}
		wg.Go(func() {
			for time.Since(start) < limit || all.poor() && time.Since(start) < 5*limit {
				c.round()
			}
		})
	}
	wg.Wait()
	all.check(t)
}

// contender is one of those who want the lease.
type contender struct {
	*lease.Leases
	t      *testing.T
	db     dbtest.Database
	gate   *gate // before the leases
	client int
	all    *history
	d      time.Duration
	rnd    *rand.Rand
}

func (c *contender) think(most time.Duration) {
	time.Sleep(time.Duration(c.rnd.Float64() * float64(most)))
}

func (c *contender) round() {
	c.think(c.d / 4)
	var l *lease.Lease
	c.all.record(c.client, func() leasetest.Event {
		var err error
		l, err = c.Acquire(c.t.Context(), "close-books", lease.Options{Duration: c.d})
		if err != nil && !errors.Is(err, lease.ErrHeld) {
			c.t.Error(err)
		}
		if l == nil {
			return leasetest.Event{Kind: leasetest.Acquired}
		}
		return leasetest.Event{Kind: leasetest.Acquired, Token: nth(l.Token()), OK: true}
	})
	if l == nil {
		return
	}
	c.writes(l)
	if c.rnd.IntN(2) == 0 {
		c.pause(l)
		c.writes(l)
	}
	c.all.record(c.client, func() leasetest.Event {
		if err := l.Close(c.t.Context()); err != nil {
			c.t.Error(err)
		}
		return leasetest.Event{Kind: leasetest.Closed, Token: nth(l.Token()), OK: true}
	})
}

func (c *contender) writes(l *lease.Lease) {
	for range 1 + c.rnd.IntN(2) {
		c.think(c.d / 10)
		c.all.record(c.client, func() leasetest.Event {
			err := c.write(l)
			if err != nil && !errors.Is(err, lease.ErrLost) {
				c.t.Error(err)
			}
			return leasetest.Event{Kind: leasetest.Wrote, Token: nth(l.Token()), OK: err == nil}
		})
	}
}

// pause stops a holder's renewals, as if its process stood still.
func (c *contender) pause(l *lease.Lease) {
	c.all.record(c.client, func() leasetest.Event {
		return leasetest.Event{Kind: leasetest.Expired, Token: nth(l.Token()), OK: true}
	})
	c.gate.shut.Store(true)
	c.think(2 * c.d)
	c.gate.shut.Store(false)
	c.all.record(c.client, func() leasetest.Event {
		return leasetest.Event{Kind: leasetest.Renewed, Token: nth(l.Token()), OK: l.Renew(c.t.Context()) == nil}
	})
}

// write makes an effect under a lease's guard and returns the guard's error.
func (c *contender) write(l *lease.Lease) error {
	tx := c.db.Begin(c.t)
	defer tx.Rollback()
	if err := l.Guard(c.t.Context(), tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(c.t.Context(), "INSERT INTO "+c.db.Table("effects")+" VALUES ($1)", l.Token())
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		c.t.Error(err)
	}
	return nil
}

// gate lets no renewal pass while it is shut.
type gate struct {
	engine.DB
	shut atomic.Bool
}

func (g *gate) Do(ctx context.Context, calls ...*engine.Call) error {
	if g.shut.Load() && calls[0].Name() == "lease/renew" {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return g.DB.Do(ctx, calls...)
}

// Unwrap returns the database behind the gate.
func (g *gate) Unwrap() engine.DB { return g.DB }

// nth is the number of a grant in its token.
func nth(token int64) int64 { return token & (1<<engine.TokenBits - 1) }

// history is what all contenders saw, in an order that respects time.
type history struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) record(client int, do func() leasetest.Event) {
	call := h.clock.Add(1)
	out := do()
	op := porcupine.Operation{ClientId: client, Input: out.Kind, Call: call, Output: out, Return: h.clock.Add(1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// poor reports whether too little happened to mean anything: nobody who came too late
// tried to write, or the lease hardly changed hands.
func (h *history) poor() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	holders, refused := 0, 0
	for _, op := range h.ops {
		switch e := op.Output.(leasetest.Event); {
		case e.Kind == leasetest.Acquired && e.OK:
			holders++
		case e.Kind == leasetest.Wrote && !e.OK:
			refused++
		}
	}
	return holders < 5 || refused == 0
}

func (h *history) check(t *testing.T) {
	t.Helper()
	t.Logf("%d events", len(h.ops))
	if h.poor() {
		t.Error("too little happened to mean anything")
	}
	if result := porcupine.CheckOperationsTimeout(leasetest.Model(leasetest.World{Free: true}), h.ops, 5*time.Minute); result != porcupine.Ok {
		t.Fatalf("the history is %s", result)
	}
}
