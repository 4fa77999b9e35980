package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

const (
	// patience bounds a scene, from the end of its producer on.
	patience = time.Minute
	// lookEvery is how often to look at the database.
	lookEvery = 50 * time.Millisecond
	// killAt is the share of the messages after which a worker is killed.
	killAt = 0.4
)

// script is what a scene consists of, for those who stage it.
type script interface {
	// Title says what is about to happen.
	Title() string
	// Produce makes all the work there is; workers begin with it meanwhile.
	Produce(ctx context.Context) error
	// Produced says what Produce did.
	Produced() string
	// Messages is how many there are to be at most, so that there is a middle.
	Messages() int64
	// Progress says how far the workers are.
	Progress(n outbox.Counts) string
}

// run is a demo that runs.
type run struct {
	Options
	stage    *stage
	producer *pawl.Pawl // makes work, and does none
	crew     *crew
}

// act is a scene that is played.
type act struct {
	*run
	script
	before   outbox.Counts // what earlier scenes left
	over     chan struct{} // the producer is
	err      error         // the producer's, valid once over
	produced bool
	killed   bool
}

// play plays a scene until all its work is done.
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
		err = ctx.Err() // whatever else that made go wrong
	}
	cancel()
	<-a.over
	return err
}

// watch looks on until all is delivered, and kills a worker on the way.
func (a *act) watch(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var deadline <-chan time.Time
	over := a.over
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("not everything was delivered within %v", patience)
		case <-over:
			if a.err != nil {
				return a.err
			}
			over, deadline, a.produced = nil, time.After(patience), true
			a.Board.Say("%s", a.Produced())
		case <-tick.C:
			if done, err := a.look(ctx); done || err != nil {
				return err
			}
		}
	}
}

// look shows the state of things, kills a worker when it is time, and reports
// whether nothing is left to do.
func (a *act) look(ctx context.Context) (done bool, err error) {
	if err := a.crew.check(); err != nil {
		return false, err
	}
	n, err := a.producer.Outbox.Count(ctx)
	if err != nil {
		return false, err
	}
	n.Done, n.Failed = n.Done-a.before.Done, n.Failed-a.before.Failed
	a.Board.Show(a.Progress(n))
	over := a.produced && n.Ready+n.Scheduled+n.InProgress == 0
	middle := float64(n.Done+n.Failed) >= killAt*float64(a.Messages()) && n.InProgress > 0
	if !a.killed && (middle || over) {
		return false, a.replace(middle)
	}
	return over && a.killed, nil
}

// replace kills a worker and starts another. With little to do all may be done
// before there is a middle.
func (a *act) replace(middle bool) error {
	victim := a.crew.oldest()
	if err := victim.kill(); err != nil {
		return err
	}
	a.killed = true
	if middle {
		a.Board.Say("worker %d killed with SIGKILL in the middle of its work", victim.pid())
	} else {
		a.Board.Say("worker %d killed with SIGKILL, though it had nothing left to do", victim.pid())
	}
	substitute, err := a.crew.hire()
	if err != nil {
		return err
	}
	a.Board.Say("worker %d started; what %d held comes back within %v", substitute.pid(), victim.pid(), lease)
	return nil
}
