package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

const (
	// sceneTimeout bounds how long the delivery takes after the last message was enqueued.
	sceneTimeout = time.Minute
	// pollInterval is how often the state of the messages is read.
	pollInterval = 50 * time.Millisecond
	// killAt is the share of the messages after which a worker is killed.
	killAt = 0.4
)

// script is what a scene consists of.
type script interface {
	// Title describes the scene.
	Title() string
	// Produce enqueues all messages; workers handle them meanwhile.
	Produce(ctx context.Context) error
	// Produced describes what Produce did.
	Produced() string
	// Messages returns how many messages there will be at most.
	Messages() int64
	// Progress describes how far the workers are.
	Progress(n outbox.Counts) string
}

// run is a demo that runs.
type run struct {
	Options
	db       *database
	producer *pawl.Pawl // enqueues, and handles nothing
	workers  *workers
	after    func(ctx context.Context, v *Verdict) // nil: nothing
}

// act is a scene that runs.
type act struct {
	*run
	script
	before   outbox.Counts // of the scenes before
	over     chan struct{} // closed when Produce has returned
	err      error         // of Produce, valid once over
	produced bool
	killed   bool
}

// play runs a scene until all its messages are handled.
func (r *run) play(ctx context.Context, s script) error {
	before, err := r.producer.Outbox.Count(ctx)
	if err != nil {
		return err
	}
	r.Board.Say("%s", s.Title())
	ctx, cancel := context.WithCancel(ctx)
	a := &act{run: r, script: s, before: before, over: make(chan struct{})}
	go func() {
		defer close(a.over)
		a.err = s.Produce(ctx)
	}()
	err = a.watch(ctx)
	if ctx.Err() != nil {
		err = ctx.Err() // other errors follow from it
	}
	cancel()
	<-a.over
	return err
}

// watch waits until all messages are handled, and kills a worker in the middle.
func (a *act) watch(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var deadline <-chan time.Time
	over := a.over
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("not everything was delivered within %v", sceneTimeout)
		case <-over:
			if a.err != nil {
				return a.err
			}
			over, deadline, a.produced = nil, time.After(sceneTimeout), true
			a.Board.Say("%s", a.Produced())
		case <-tick.C:
			if done, err := a.poll(ctx); done || err != nil {
				return err
			}
		}
	}
}

// poll shows how far the work is, kills a worker in the middle, and reports whether
// nothing is left to do.
func (a *act) poll(ctx context.Context) (done bool, err error) {
	if err := a.workers.check(); err != nil {
		return false, err
	}
	n, err := a.producer.Outbox.Count(ctx)
	if err != nil {
		return false, err
	}
	n.Done, n.Failed = n.Done-a.before.Done, n.Failed-a.before.Failed
	a.Board.Show(a.Progress(n))
	over := a.produced && n.Ready+n.Scheduled+n.Retrying+n.InProgress == 0
	middle := float64(n.Done+n.Failed) >= killAt*float64(a.Messages()) && n.InProgress > 0
	if !a.killed && (middle || over) {
		return false, a.replace(middle)
	}
	return over && a.killed, nil
}

// replace kills a worker and starts another. A short scene may be over before that.
func (a *act) replace(middle bool) error {
	victim := a.workers.oldest()
	if err := victim.kill(); err != nil {
		return err
	}
	a.killed = true
	if middle {
		a.Board.Say("worker %d killed with SIGKILL in the middle of its work", victim.pid())
	} else {
		a.Board.Say("worker %d killed with SIGKILL, though it had nothing left to do", victim.pid())
	}
	substitute, err := a.workers.start()
	if err != nil {
		return err
	}
	a.Board.Say("worker %d started; what %d held comes back within %v", substitute.pid(), victim.pid(), lease)
	return nil
}
