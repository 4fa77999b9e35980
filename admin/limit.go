package admin

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/outbox"
)

// Limit is the limit of a topic, each topic of a pattern, or a queue.
type Limit struct {
	Kind Kind   `json:"kind"` // Queue, Topic or EachTopic
	Name string `json:"name"`
	outbox.Limit
	Since time.Time `json:"since,omitzero"`
	// Actor is who set it.
	Actor  string `json:"actor"`
	Reason string `json:"reason,omitempty"`
	// Declared is what a program's handler declares (outbox.HandlerOptions.Limit) where an operator set this
	// limit in its place, in words; "": nothing.
	Declared string `json:"declared,omitempty"`
	// Claimed is how many messages count against Concurrency: for EachTopic those of all its topics.
	Claimed int64 `json:"claimed"`
	// Waiting is how many messages of a topic are due and were met by a claim that had no room. It is
	// at least so many: 1 000 runs are counted, messages that were written together.
	Waiting int64 `json:"waiting"`
	// Oldest is for how long the oldest of these has been due.
	Oldest time.Duration `json:"oldest,omitempty"`
	// Next is when the next message may be claimed, by Rate; zero or past: now.
	Next time.Time `json:"next,omitzero"`
}

// SetLimit limits a topic, in all queues together, or a queue, in place of the limit that it has,
// and reports whether that changes anything. For EachTopic the name is a pattern, "call.*", and the
// limit holds for each topic that begins so by itself: for "call.acme" as much as for "call.best".
// A limit of the topic's own holds instead, and of two patterns the longer one. It holds in every process for what is claimed from
// then on, also by SQL. What is claimed already goes on, and counts. Messages of a topic that have
// to wait keep no other topic of their queue from being claimed. It waits for transactions that have
// claimed under limits. reason is for people, at most 1000
// characters. It returns pawl.ErrInvalid for another kind, a name that is empty or longer than 255
// characters, a pattern that does not end in *, and a limit that is out of bounds.
func (a *Admin) SetLimit(ctx context.Context, kind Kind, name string, l outbox.Limit, reason string) (bool, error) {
	return a.limits.Set(ctx, throttle.Kind(kind), name, throttle.Bounds(l), reason)
}

// RemoveLimit ends the limit of a topic, each topic of a pattern, or a queue, and reports whether there was one. What waited
// for it is claimed as anything else.
func (a *Admin) RemoveLimit(ctx context.Context, kind Kind, name string) (bool, error) {
	return a.limits.Remove(ctx, throttle.Kind(kind), name)
}

// Limits returns the limits and how much of them is used, by kind and name.
func (a *Admin) Limits(ctx context.Context) ([]Limit, error) {
	list, err := a.limits.List(ctx)
	return engine.Mapped(list, func(l *throttle.Limit) Limit {
		return Limit{
			Kind: Kind(l.Kind), Name: l.Name, Limit: outbox.Limit(l.Bounds), Since: l.Since, Actor: l.Actor, Reason: l.Reason, Declared: l.Declared, Claimed: l.Claimed, Waiting: l.Waiting, Oldest: l.Oldest, Next: l.Next,
		}
	}), err
}
