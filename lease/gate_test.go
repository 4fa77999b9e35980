package lease_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// gate stands between leases and their database, and lets a test decide what
// passes. A holder whose renewals do not pass is one that died or is paused.
type gate struct {
	engine.DB
	// OnlyWoken makes waiters that have subscribed sleep until they are woken. Asleep
	// counts how often one went to sleep like that.
	OnlyWoken bool
	Asleep    atomic.Int64
	// After, if not nil, may turn a success into a failure that came after it.
	After func(op string) error

	mu    sync.Mutex
	rules map[string]func(context.Context) error
	seen  map[string][]time.Time
}

// Do passes calls on unless there is a rule against their first operation.
func (g *gate) Do(ctx context.Context, calls ...*engine.Call) error {
	op := calls[0].Name()
	g.mu.Lock()
	if g.seen == nil {
		g.seen = map[string][]time.Time{}
	}
	g.seen[op] = append(g.seen[op], time.Now())
	rule := g.rules[op]
	g.mu.Unlock()
	if rule != nil {
		if err := rule(ctx); err != nil {
			return err
		}
	}
	err := g.DB.Do(ctx, calls...)
	if err == nil && g.After != nil {
		err = g.After(op)
	}
	return err
}

// Rule has f decide over the operation from now on; nil lets it pass.
func (g *gate) Rule(op string, f func(context.Context) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rules == nil {
		g.rules = map[string]func(context.Context) error{}
	}
	g.rules[op] = f
}

// Block makes the operation wait until it is given up.
func (g *gate) Block(op string) {
	g.Rule(op, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
}

// Fail makes the operation fail.
func (g *gate) Fail(op string, err error) {
	g.Rule(op, func(context.Context) error { return err })
}

// Seen returns when the operation was asked for.
func (g *gate) Seen(op string) []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]time.Time(nil), g.seen[op]...)
}

// Waiter returns the database's, or one that does not wake by itself.
func (g *gate) Waiter(queue string) engine.Waiter {
	s := g.DB.Waiter(queue)
	if g.OnlyWoken {
		return &soundSleeper{Waiter: s, asleep: &g.Asleep}
	}
	return s
}

type soundSleeper struct {
	engine.Waiter
	armed  bool
	asleep *atomic.Int64
}

func (s *soundSleeper) Subscribe(ctx context.Context) (bool, error) {
	again, err := s.Waiter.Subscribe(ctx)
	s.armed = err == nil
	return again, err
}

func (s *soundSleeper) Sleep(ctx context.Context, d time.Duration) bool {
	if s.armed {
		d = time.Hour
		s.asleep.Add(1)
	}
	return s.Waiter.Sleep(ctx, d)
}
