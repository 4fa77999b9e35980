package metrics

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/throttle"
)

// store is one database.
type store struct {
	key, label string
	p          *pawl.Pawl

	mu     sync.Mutex
	health *fleetstate.Store // as of this collection; nil: not of a fleet
	busy   bool              // it is being asked
	last   reading
}

// present returns the stores there are that have a label of their own, by key.
func (c *Collector) present() []*store {
	health := map[string]*fleetstate.Store{}
	if c.fleet != nil {
		for _, h := range c.fleet.Operator(access.Key{}).State().Stores {
			health[h.Key] = &h
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*store
	for _, s := range c.stores {
		h := health[s.key]
		if c.fleet != nil && (h == nil || s.label == other) {
			continue // it left, or it is one of too many
		}
		s.mu.Lock()
		s.health = h
		s.mu.Unlock()
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *store) int { return strings.Compare(a.key, b.key) })
	return all
}

// due says whether the database is to be asked. One that fails is left alone by
// those who only look, and one that has nothing to do is asked once and then not
// again: it would take a connection that nobody else needs.
func (s *store) due(interval time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.busy:
		return false
	case s.health != nil && s.health.State == fleetstate.Failing:
		return false
	case s.health != nil && s.health.State == fleetstate.Idle && s.last.idle && s.last.err == nil:
		return false
	}
	return time.Since(s.last.at) >= interval-interval/10 // whoever asks at this interval is not to wait for the next
}

func (s *store) asked() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.at
}

// ask asks the database.
func (s *store) ask(ctx context.Context, c *Collector) {
	s.mu.Lock()
	if s.busy {
		s.mu.Unlock()
		return
	}
	s.busy = true
	idle := s.health != nil && s.health.State == fleetstate.Idle
	s.mu.Unlock()
	r := c.read(ctx, s.p.Internal(access.Key{}).DB)
	r.idle = idle
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.last = false, r
}

// look returns what is known of the database; read is false if it said nothing.
func (s *store) look() (up, known, read bool, last reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read = !s.busy && s.last.err == nil && !s.last.at.IsZero()
	if s.health == nil {
		return read, true, read, s.last
	}
	failing := s.health.State == fleetstate.Failing
	return !failing, failing || !s.health.LastSuccess.IsZero(), read && !failing, s.last
}

// collect sends what there is to say of the store.
func (s *store) collect(out sink) {
	up, known, read, last := s.look()
	to := storeSink{out, s.label}
	told := &out.c.told
	if known {
		to.send(told.up, number(up))
	}
	if read {
		to.send(told.readAt, seconds(last.at))
		last.collect(to)
	}
	s.collectLoops(to)
	process := s.p.Internal(access.Key{})
	counts := process.Stats()
	to.send(told.held, float64(counts.InFlight))
	to.send(told.running, float64(counts.Running))
	to.send(told.overdue, float64(len(process.Overdue())))
	to.send(told.databaseErrors, float64(counts.Errors))
}

// collect sends what the database said.
func (r *reading) collect(to storeSink) {
	told := &to.c.told
	for k, n := range r.messages {
		to.send(told.messages, n, k.queue, k.topic, k.state)
	}
	for k, age := range r.oldest {
		to.send(told.oldest, age, k.a, k.b)
	}
	for k, age := range r.unhandled {
		to.send(told.unhandled, age, k.a, k.b)
	}
	for k, n := range r.attempts {
		to.send(told.recent, n[0], k.a, k.b, "succeeded")
		to.send(told.recent, n[1], k.a, k.b, "failed")
	}
	for what, more := range r.truncated {
		to.send(told.truncated, number(more), what)
	}
	r.collectLimits(to)
	n := &r.counts
	for status, n := range []int64{n.JoinsPending, n.JoinsCompleted, n.JoinsFailed, n.JoinsCancelled} {
		to.send(told.joins, float64(n), op.JoinStatuses().Word(int64(status)))
	}
	to.send(told.timers, float64(n.TimersDue), "due")
	to.send(told.timers, float64(n.TimersScheduled), "scheduled")
	to.send(told.pauses, float64(n.QueuesPaused), "queue")
	to.send(told.pauses, float64(n.TopicsPaused), "topic")
	to.send(told.workers, float64(n.Workers))
	to.send(told.clockOff, r.clockOff)
}

// collectLimits sends the limits. Different names may share a label: then the first one counts.
func (r *reading) collectLimits(to storeSink) {
	told, sent := &to.c.told, map[pair]bool{}
	for _, l := range r.limits {
		names := &to.c.topics
		if l.Kind == throttle.Queue {
			names = &to.c.queues
		}
		k := pair{string(l.Kind), names.label(l.Name)}
		if sent[k] {
			continue
		}
		sent[k] = true
		if l.Concurrency > 0 {
			to.send(told.limitConcurrency, float64(l.Concurrency), k.a, k.b)
			to.send(told.limitClaimed, float64(l.Claimed), k.a, k.b)
		}
		if l.Kind == throttle.Topic {
			to.send(told.limitWaiting, float64(l.Waiting), k.a, k.b)
		}
	}
}

// collectLoops sends how the loops are. Of a fleet those count that ever ran: the
// others are the fleet's own.
func (s *store) collectLoops(to storeSink) {
	told, now, sent := &to.c.told, time.Now(), map[string]bool{}
	for _, v := range s.p.Internal(access.Key{}).Status() {
		name := strings.ToValidUTF8(v.Name, "\uFFFD")
		if sent[name] || to.c.fleet != nil && v.LastTurn.IsZero() {
			continue
		}
		sent[name] = true
		overdue := time.Duration(0)
		if v.Running && !v.NextTurn.IsZero() {
			overdue = max(now.Sub(v.NextTurn), 0)
		}
		to.send(told.loopRunning, number(v.Running), name)
		to.send(told.loopOverdue, overdue.Seconds(), name)
		to.send(told.loopFailures, float64(v.Failures), name)
		if !v.LastSuccess.IsZero() {
			to.send(told.loopSuccess, seconds(v.LastSuccess), name)
		}
	}
}

// collectPool sends how a single database is off for connections.
func (s *store) collectPool(out sink) {
	told := &out.c.told
	out.send(told.slots, float64(s.p.Internal(access.Key{}).Concurrency()))
	if h, ok := engine.As[engine.HistoryCounter](s.p.DB()); ok {
		out.send(told.changes, float64(h.HistoryChanges()))
	}
	pooled, ok := engine.As[engine.Pooled](s.p.DB())
	if !ok {
		return
	}
	stats := pooled.PoolStats()
	out.send(told.open, float64(stats.Open))
	out.send(told.inUse, float64(stats.InUse))
	out.send(told.waits, float64(stats.Waits))
	out.send(told.waited, stats.Waited.Seconds())
	if stats.Max > 0 {
		out.send(told.most, float64(stats.Max))
	}
}

// collectFleet sends what holds for all stores, also those without a label.
func (c *Collector) collectFleet(out sink) {
	h := c.fleet.Operator(access.Key{}).State()
	states := map[fleetstate.State]int{fleetstate.Idle: 0, fleetstate.Waiting: 0, fleetstate.Active: 0, fleetstate.Failing: 0}
	for _, s := range h.Stores {
		states[s.State]++
	}
	for state, n := range states {
		out.send(c.told.stores, float64(n), string(state))
	}
	out.send(c.told.open, float64(h.Connections))
	out.send(c.told.most, float64(h.MaxConnections))
	out.send(c.told.slots, float64(h.MaxHandlers))
}

// storeSink is where a store's metrics go.
type storeSink struct {
	sink
	store string
}

func (s storeSink) send(f *family, v float64, labels ...string) {
	s.sink.send(f, v, s.c.catalogue.values(s.store, labels...)...)
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }
