// Package pause stops and resumes work on a topic or queue, for the workers of a database
// in all processes. Messages are enqueued as before meanwhile, and wait. Package admin is
// its public side.
package pause

import (
	"context"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/subject"
	"github.com/bravellian/pawl/internal/worker"
)

// Kind is the kind of what is paused.
type Kind = subject.Kind

// What can be paused.
const (
	// Queue pauses all topics of a queue: nothing of it is claimed.
	Queue = subject.Queue
	// Topic pauses a topic in all queues: workers park its messages.
	Topic = subject.Topic
)

// Pause is a topic or queue that is paused.
type Pause struct {
	Kind   Kind
	Name   string
	Since  time.Time
	Actor  string // who paused it
	Reason string
	// Ending is true while parked messages are put back. If the process that does so crashes,
	// the next worker continues.
	Ending bool
}

// Pauses are the pauses of a database. They are safe for concurrent use.
type Pauses struct {
	db   engine.DB
	log  *slog.Logger
	seen subject.Latest // what was paused at the last Refresh
}

// New returns the pauses of a database.
func New(db engine.DB, log *slog.Logger) *Pauses {
	return &Pauses{db: db, log: engine.Logger(log)}
}

// lane returns the lane where a topic's messages are parked. No queue's name contains a
// NUL character, so no queue has it.
func lane(topic string) int64 { return engine.LaneNumber("\x00topic/" + topic) }

// Pause stops work on a topic or queue. Workers of every process start no more of its messages
// within a second; running handlers go on. It reports whether it was not paused before. reason
// is for people to read.
func (p *Pauses) Pause(ctx context.Context, kind Kind, name, reason string) (bool, error) {
	if err := subject.Check(kind, name); err != nil {
		return false, err
	}
	if err := engine.CheckText("reason", reason, limits.Reason, false); err != nil {
		return false, err
	}
	put := engine.Ask(op.PausePut{
		Kind: string(kind), Name: name, Lane: lane(name), Reason: worker.Optional(reason), Note: audit.New(audit.WithReason(ctx, reason), subject.Target(kind, name)).Op(),
	})
	if err := p.db.Do(ctx, put); err != nil {
		return false, err
	}
	if put.N > 0 {
		p.log.InfoContext(ctx, "paused", "kind", string(kind), "name", name)
	}
	return put.N > 0, p.Refresh(ctx)
}

// unparkRuns bounds one transaction of Resume.
const unparkRuns = 1000

// Resume ends a pause of a topic or queue and reports whether there was one. Parked messages are
// put back, in bounded transactions, before it returns.
func (p *Pauses) Resume(ctx context.Context, kind Kind, name string) (bool, error) {
	if err := subject.Check(kind, name); err != nil {
		return false, err
	}
	end := engine.Ask(op.PauseEnd{Kind: string(kind), Name: name, Note: audit.New(ctx, subject.Target(kind, name)).Op()})
	if err := p.db.Do(ctx, end); err != nil || end.N == 0 {
		return false, err
	}
	if kind == Topic {
		if _, err := worker.Purge(ctx, p.db, op.PauseUnpark{Topic: name, Most: unparkRuns}); err != nil {
			return true, err
		}
	} else {
		p.db.Notify(name)
	}
	p.log.InfoContext(ctx, "resumed", "kind", string(kind), "name", name)
	return true, p.Refresh(ctx)
}

// List returns what is paused, by kind and name.
func (p *Pauses) List(ctx context.Context) ([]Pause, error) {
	list, err := engine.Query(ctx, p.db, op.PauseList{})
	var all []Pause
	for _, one := range list {
		all = append(all, Pause{
			Kind: Kind(one.Kind), Name: one.Name, Since: one.At.UTC(), Actor: one.Actor, Reason: worker.Value(one.Reason), Ending: one.Ending,
		})
	}
	return all, err
}

// Refresh reads what is paused, for Of.
func (p *Pauses) Refresh(ctx context.Context) error {
	_, err := p.look(ctx)
	return err
}

func (p *Pauses) look(ctx context.Context) (all []Pause, err error) {
	err = p.seen.Read(func() (now *subject.Set, err error) {
		all, err = p.List(ctx)
		for _, one := range all {
			if !one.Ending {
				now = now.Add(one.Kind, one.Name)
			}
		}
		return now, err
	})
	return all, err
}

// RefreshAndUnpark is Refresh for workers: it also puts back some of the messages that are still
// parked although their pause ended, in case the process that resumed crashed.
func (p *Pauses) RefreshAndUnpark(ctx context.Context) error {
	all, err := p.look(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if !one.Ending {
			continue
		}
		if _, err := engine.Exec(ctx, p.db, nil, op.PauseUnpark{Topic: one.Name, Most: unparkRuns}); err != nil {
			return err
		}
	}
	return nil
}

// Of returns whether a message of a topic may start in a queue, as of the last Refresh.
func (p *Pauses) Of(queue, topic string) worker.PauseState {
	now := p.seen.Set()
	switch {
	case now.HasQueue(queue):
		return worker.QueuePaused
	case now.HasTopic(topic):
		return worker.TopicPaused
	}
	return worker.NotPaused
}
