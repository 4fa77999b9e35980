package admin

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/pause"
)

// Pause is a topic or queue that is paused.
type Pause struct {
	Kind  Kind      `json:"kind"` // Queue or Topic
	Name  string    `json:"name"`
	Since time.Time `json:"since,omitzero"`
	// Actor is who paused it.
	Actor  string `json:"actor"`
	Reason string `json:"reason,omitempty"`
	// Ending is true after Resume until all messages are back in their queues. If the
	// process that resumes dies, the next worker continues.
	Ending bool `json:"ending,omitempty"`
}

// Pause stops work on a topic, in all queues, or on a queue, in every process. Workers
// begin no more of its messages within a second; handlers that run go on to their end.
// Messages are enqueued as before and wait; nothing counts as an attempt meanwhile. It
// reports whether it was not paused before: a pause keeps its first reason. reason is
// for people, at most 1000 characters. It returns pawl.ErrInvalid for another kind
// and for a name that is empty or longer than 255 characters.
func (a *Admin) Pause(ctx context.Context, kind Kind, name, reason string) (bool, error) {
	return a.pauses.Pause(ctx, pause.Kind(kind), name, reason)
}

// Resume ends a pause and reports whether there was one. Messages of a paused topic are
// back in their queues, due as before, when it returns; that takes several transactions.
// After an error call it again, or leave the rest to the workers.
func (a *Admin) Resume(ctx context.Context, kind Kind, name string) (bool, error) {
	return a.pauses.Resume(ctx, pause.Kind(kind), name)
}

// Pauses returns what is paused, by kind and name.
func (a *Admin) Pauses(ctx context.Context) ([]Pause, error) {
	list, err := a.pauses.List(ctx)
	return engine.Mapped(list, func(p *pause.Pause) Pause {
		return Pause{Kind: Kind(p.Kind), Name: p.Name, Since: p.Since, Actor: p.Actor, Reason: p.Reason, Ending: p.Ending}
	}), err
}
