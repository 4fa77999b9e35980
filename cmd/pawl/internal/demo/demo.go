// Package demo is pawl's main job on real input, in front of an audience: an
// order service whose workers are separate processes, one of which is killed
// in the middle. Afterwards the database is asked what was lost.
//
// The shop is the first scene. Another one brings its own tables, producer,
// handlers and verdict, as package shop does; place, stage and crew serve any.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/demo/shop"
	"github.com/bravellian/pawl/outbox"
)

// Options say how to run the demo.
type Options struct {
	DB      string       // postgres:// URL; empty: SQLite in a temporary directory
	Orders  []shop.Order // what customers order
	Workers int          // processes
	Keep    bool         // leave the database for inspection
	Command []string     // arguments with which this program is a worker
	Board   *Board
	// OnPlace is told how to clean up before an exit that waits for nothing.
	OnPlace func(cleanUp func())
}

const (
	// patience bounds the demo, from the last order on.
	patience = time.Minute
	// lookEvery is how often to look at the database.
	lookEvery = 50 * time.Millisecond
	// killAt is the share of the messages after which a worker is killed.
	killAt = 0.4
)

// run is a demo that runs.
type run struct {
	Options
	stage   *stage
	outbox  *outbox.Outbox
	crew    *crew
	counter shop.Counter
	taking  *taking
	killed  bool
}

// taking is the order taking in the background.
type taking struct {
	over chan struct{}
	err  error // valid once over
}

func (r *run) takeOrders(ctx context.Context) *taking {
	t := &taking{over: make(chan struct{})}
	go func() {
		defer close(t.over)
		t.err = shop.TakeOrders(ctx, r.stage.shop, r.outbox, r.Orders, &r.counter)
	}()
	return t
}

// Run plays the demo and returns the verdict.
func Run(ctx context.Context, o Options) (v *shop.Verdict, err error) {
	p, err := newPlace(o.DB)
	if err != nil {
		return nil, err
	}
	if o.OnPlace != nil && !o.Keep {
		o.OnPlace(func() { _ = p.removeFiles() }) // nobody is left to tell
	}
	s, err := openStage(p.DB, p.Schema)
	if err != nil {
		return nil, errors.Join(err, p.removeFiles())
	}
	defer func() {
		if o.Keep {
			o.Board.Say("kept: %s", p.describe())
		} else {
			err = errors.Join(err, p.remove(s))
		}
		err = errors.Join(err, s.close())
	}()
	r := &run{Options: o, stage: s, crew: newCrew(p, o.Command)}
	r.outbox = outbox.New(s, outbox.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := r.play(ctx); err != nil {
		return nil, err
	}
	return shop.Judge(ctx, s.shop)
}

func (r *run) play(ctx context.Context) error {
	defer r.Board.Clear()
	if err := r.stage.Migrate(ctx); err != nil {
		return err
	}
	if err := r.stage.shop.Create(ctx); err != nil {
		return err
	}
	defer r.crew.dismiss(10 * time.Second)
	for range r.Workers {
		m, err := r.crew.hire()
		if err != nil {
			return err
		}
		r.Board.Say("worker %d started", m.pid())
	}
	r.Board.Say("taking %d orders", len(r.Orders))
	ctx, cancel := context.WithCancel(ctx)
	r.taking = r.takeOrders(ctx)
	err := r.watch(ctx)
	if ctx.Err() != nil {
		err = ctx.Err() // whatever else that made go wrong
	}
	cancel()
	<-r.taking.over
	return err
}

// watch looks on until all is delivered, and kills a worker on the way.
func (r *run) watch(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var deadline <-chan time.Time
	over := r.taking.over
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("not everything was delivered within %v", patience)
		case <-over:
			if r.taking.err != nil {
				return fmt.Errorf("take orders: %w", r.taking.err)
			}
			over, deadline = nil, time.After(patience)
			r.Board.Say("orders taken: %d committed, %d rolled back, their payment was declined", r.counter.Taken.Load(), r.counter.Declined.Load())
		case <-tick.C:
			done, err := r.look(ctx)
			if err != nil || done && over == nil {
				return err
			}
		}
	}
}

// look shows the state of things, kills a worker when it is time, and reports
// whether nothing is left to do.
func (r *run) look(ctx context.Context) (done bool, err error) {
	if err := r.crew.check(); err != nil {
		return false, err
	}
	n, err := r.outbox.Count(ctx)
	if err != nil {
		return false, err
	}
	r.Board.Show(r.counter.Taken.Load(), n)
	left := n.Ready + n.Scheduled + n.InProgress
	middle := float64(n.Done+n.Failed) >= killAt*float64(2*len(r.Orders)) && n.InProgress > 0
	if !r.killed && (middle || r.allTaken() && left == 0) {
		return false, r.replace(middle)
	}
	return left == 0 && r.killed, nil
}

func (r *run) allTaken() bool {
	return r.counter.Taken.Load()+r.counter.Declined.Load() == int64(len(r.Orders))
}

// replace kills a worker and starts another. With few orders all may be done
// before there is a middle.
func (r *run) replace(middle bool) error {
	victim := r.crew.members[0]
	if err := victim.kill(); err != nil {
		return err
	}
	r.killed = true
	if middle {
		r.Board.Say("worker %d killed with SIGKILL in the middle of its work", victim.pid())
	} else {
		r.Board.Say("worker %d killed with SIGKILL, though it had nothing left to do", victim.pid())
	}
	substitute, err := r.crew.hire()
	if err != nil {
		return err
	}
	r.Board.Say("worker %d started; what %d held comes back within %v", substitute.pid(), victim.pid(), lease)
	return nil
}

func (p *place) describe() string {
	if p.Schema != "" {
		return "schema " + p.Schema
	}
	return p.DB
}
