package lease_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/lease"
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

type kind int

const (
	acquired kind = iota
	wrote
	paused
	resumed
	closed
)

// event is what a contender did, and observed.
type event struct {
	kind  kind
	token int64 // of its lease
	ok    bool
}

func contend(t *testing.T, e dbtest.Engine, d, limit time.Duration) {
	f := open(t, e)
	f.effects()
	var all history
	var wg sync.WaitGroup
	start := time.Now()
	for i := range 8 {
		c := &contender{fixture: f.another(), client: i, all: &all, d: d, rnd: rand.New(rand.NewPCG(7, uint64(i)))}
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
	*fixture
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
	c.all.record(c.client, func() event {
		var err error
		l, err = c.Acquire(c.ctx(), name, lease.Options{Duration: c.d})
		if err != nil && !errors.Is(err, lease.ErrHeld) {
			c.t.Error(err)
		}
		if l == nil {
			return event{kind: acquired}
		}
		return event{acquired, nth(l.Token()), true}
	})
	if l == nil {
		return
	}
	c.writes(l)
	if c.rnd.IntN(2) == 0 {
		c.pause(l)
		c.writes(l)
	}
	c.all.record(c.client, func() event {
		if err := l.Close(c.ctx()); err != nil {
			c.t.Error(err)
		}
		return event{closed, nth(l.Token()), true}
	})
}

func (c *contender) writes(l *lease.Lease) {
	for range 1 + c.rnd.IntN(2) {
		c.think(c.d / 10)
		c.all.record(c.client, func() event {
			err := c.write(l)
			if err != nil && !errors.Is(err, lease.ErrLost) {
				c.t.Error(err)
			}
			return event{wrote, nth(l.Token()), err == nil}
		})
	}
}

// pause stops a holder's renewals, as if its process stood still.
func (c *contender) pause(l *lease.Lease) {
	c.all.record(c.client, func() event { return event{paused, nth(l.Token()), true} })
	c.gate.Block("lease/renew")
	c.think(2 * c.d)
	c.gate.Rule("lease/renew", nil)
	c.all.record(c.client, func() event { return event{resumed, nth(l.Token()), l.Renew(c.ctx()) == nil} })
}

// history is what all contenders saw, in an order that respects time.
type history struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) record(client int, do func() event) {
	call := h.clock.Add(1)
	out := do()
	op := porcupine.Operation{ClientId: client, Input: out.kind, Call: call, Output: out, Return: h.clock.Add(1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// world is what the history says about the lease at one moment.
type world struct {
	token  int64 // of the last acquisition
	free   bool
	asleep bool // the holder was paused since: it may have run out
}

// step says whether an event can happen in a world, and what the world is then.
func (w world) step(e event) (bool, world) {
	ours := e.token == w.token && !w.free
	switch {
	case e.kind == acquired && e.ok:
		return e.token == w.token+1 && (w.free || w.asleep), world{token: e.token}
	case e.kind == acquired:
		return !w.free, w
	case e.kind == wrote && e.ok:
		return ours, w
	case e.kind == wrote:
		return !ours || w.asleep, w
	case e.kind == paused && ours:
		w.asleep = true
	case e.kind == resumed && e.ok:
		w.asleep = false
		return ours, w
	case e.kind == resumed:
		return !ours || w.asleep, w
	case e.kind == closed && ours:
		w.free = true
	}
	return true, w
}

// poor reports whether too little happened to mean anything: nobody who came too late
// tried to write, or the lease hardly changed hands.
func (h *history) poor() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	holders, refused := 0, 0
	for _, op := range h.ops {
		switch e := op.Output.(event); {
		case e.kind == acquired && e.ok:
			holders++
		case e.kind == wrote && !e.ok:
			refused++
		}
	}
	return holders < 5 || refused == 0
}

func (h *history) check(t *testing.T) {
	t.Helper()
	model := porcupine.Model{
		Init: func() any { return world{free: true} },
		Step: func(state, _, output any) (bool, any) { return state.(world).step(output.(event)) },
	}
	t.Logf("%d events", len(h.ops))
	if h.poor() {
		t.Error("too little happened to mean anything")
	}
	if result := porcupine.CheckOperationsTimeout(model, h.ops, time.Minute); result != porcupine.Ok {
		t.Fatalf("the history is %s", result)
	}
}
