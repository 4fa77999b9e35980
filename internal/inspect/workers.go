package inspect

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/registry"
)

// Workers are the processes that work on a database, oldest first, and those that crashed within
// a day.
type Workers []registry.Info

// ListWorkers returns the workers of a database, at most 10 000.
func ListWorkers(ctx context.Context, db engine.DB) (Workers, error) { return registry.List(ctx, db) }

// where returns the workers that does returns true for.
func (w Workers) where(does func(*registry.Info) bool) (some Workers) {
	for i := range w {
		if does(&w[i]) {
			some = append(some, w[i])
		}
	}
	return some
}

// Alive returns those whose heartbeat is recent. Each fires timers, makes runs of jobs and
// releases what others held.
func (w Workers) Alive() Workers { return w.where(func(one *registry.Info) bool { return one.Alive }) }

// Gone returns those that went without leaving the list.
func (w Workers) Gone() Workers { return w.where(func(one *registry.Info) bool { return !one.Alive }) }

// Serving returns those that are alive and serve a queue.
func (w Workers) Serving(queue string) Workers {
	return w.where(func(one *registry.Info) bool { return one.Alive && slices.Contains(one.Queues, queue) })
}

// Handling returns those that are alive and have a handler for a topic.
func (w Workers) Handling(topic string) Workers {
	return w.where(func(one *registry.Info) bool { return one.Alive && one.Handles(topic) })
}

// WithoutHandler returns the topics whose messages were put back and that none of the live workers
// which serve their queue has a handler for.
func (w Workers) WithoutHandler(all []Trouble) (some []Trouble) {
	for i := range all {
		if t := &all[i]; t.Unhandled > 0 && len(w.Serving(t.Queue).Handling(t.Topic)) == 0 {
			some = append(some, *t)
		}
	}
	return some
}

// Since returns those that were heard of after a time, in microseconds since 1970. One that
// shares its time among databases counts as alive for a day, but it would have come by.
func (w Workers) Since(micros int64) Workers {
	return w.where(func(one *registry.Info) bool { return one.Heartbeat.UnixMicro() > micros })
}

// But returns those other than one, which may be nil.
func (w Workers) But(one *registry.Info) Workers {
	return w.where(func(other *registry.Info) bool { return one == nil || other.ID != one.ID })
}

// Latest returns the one with the latest heartbeat, of those that serve a queue or served it before
// they crashed; of all for "". It is nil if there is none.
func (w Workers) Latest(queue string) (last *registry.Info) {
	for i := range w {
		if (queue == "" || slices.Contains(w[i].Queues, queue)) && (last == nil || w[i].Heartbeat.After(last.Heartbeat)) {
			last = &w[i]
		}
	}
	return last
}

// Holder returns the worker that made an owner token, a live one if two match; nil: none of them.
func (w Workers) Holder(token uuid.UUID) (by *registry.Info) {
	for i := range w {
		if w[i].Made(token) && (by == nil || w[i].Alive) {
			by = &w[i]
		}
	}
	return by
}

// Names returns the names of the first few.
func (w Workers) Names() string {
	return engine.Listed(engine.Mapped(w, func(i *registry.Info) string { return i.Name }), len(w), 5)
}
