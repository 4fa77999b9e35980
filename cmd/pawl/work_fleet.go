package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/sink/webhook"
)

// drainPoll is how often to look for more while draining. Nobody waits for news.
const drainPoll = 20 * time.Millisecond

// workFleet works on all stores of a fleet.
func (c *workCmd) workFleet(ctx context.Context, g *options, p *progress, all []served, logger *slog.Logger) error {
	where, err := g.openFleet()
	if err != nil {
		return err
	}
	list, err := stores(ctx, where) // a fleet waits for its list for ever, a person does not
	if err != nil {
		return err
	}
	opts := c.fleet(logger)
	share, leave, err := c.open(ctx, g, opening{wait: !c.Drain, Options: target.Options{Logger: logger}})
	if err != nil {
		return err
	}
	defer leave()
	opts.Share = share
	f, err := fleet.New(where, opts)
	if err != nil {
		return err
	}
	err = c.serving(f, all, func(o webhook.Options) (*webhook.Sink, error) { return webhook.NewFleet(f, o) }, logger)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	var opened tally
	f.Setup(opened.add)
	left := c.drained(all)
	if left != nil {
		f.Setup(func(s *fleet.Store) { s.Pawl.Observe(left.observer(s.Key)) })
	}
	m, err := metrics.NewFleet(f, metrics.Options{})
	if err != nil {
		return errors.Join(err, f.Close())
	}
	unlisten, err := c.serve(f, m, logger)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer unlisten()
	p.stats = opened.counts
	if c.Drain {
		p.left = func(ctx context.Context) (backlog, error) { return opened.waiting(ctx, c.queues(), len(list)) }
	}
	stop := p.start(ctx)
	err = f.Run(ctx)
	stop()
	if err == nil && left != nil {
		err = opened.undrained(ctx, f.Operator(access.Key{}).State(), list, left)
	}
	return errors.Join(err, f.Close())
}

func (c *workCmd) fleet(logger *slog.Logger) fleet.Options {
	o := c.options(logger)
	o.EnableSchemaDeployment = c.Migrate
	opts := fleet.Options{Engines: target.Openers(c.Migrate), Pawl: o, Handlers: o.Concurrency}
	if c.Drain {
		opts.PollMin = drainPoll
	}
	return opts
}

// undrained says that stores were not to be reached, which was logged, or what is left in them.
func (t *tally) undrained(ctx context.Context, h fleetstate.Fleet, list []entry, left *drained) error {
	if err := unreached(h, list); err != nil && ctx.Err() == nil {
		return err
	}
	looking, cancel := engine.Detach(ctx, reachTimeout)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.stores {
		if _, err := s.DB(access.Key{}); err != nil { // it was closed for now: nothing was due
			continue
		}
		if err := left.look(looking, s.Key, s.Pawl.Outbox); err != nil {
			return err
		}
	}
	return left.err()
}

func unreached(h fleetstate.Fleet, list []entry) error {
	bad := len(flawed(list))
	for i := range h.Stores {
		if h.Stores[i].State == fleetstate.Failing {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s could not be drained", bad, engine.Several(len(list), "store"))
}

// tally is the stores that were opened, those that left again included.
type tally struct {
	mu     sync.Mutex
	stores []*fleet.Store
}

func (t *tally) add(s *fleet.Store) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stores = append(t.stores, s)
}

// counts is what was done in all of them.
func (t *tally) counts() worker.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum worker.Counts
	for _, s := range t.stores {
		sum = sum.Add(s.Pawl.Internal(access.Key{}).Stats())
	}
	return sum
}

// waiting counts what is left in the stores that were opened, of so many.
func (t *tally) waiting(ctx context.Context, queues []string, stores int) (sum backlog, err error) {
	t.mu.Lock()
	opened := slices.Clone(t.stores)
	t.mu.Unlock()
	sum.more = len(opened) < stores
	for _, s := range opened {
		db, err := s.DB(access.Key{})
		if err != nil { // it was closed for now
			continue
		}
		w, err := countWaiting(ctx, db, queues)
		if err != nil {
			return sum, err
		}
		sum.n, sum.more = sum.n+w.n, sum.more || w.more
	}
	return sum, nil
}
