package metrics

import (
	"context"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// observer counts what happens in one store. Its methods run between one claim and
// the next, so everything that they touch is looked up by what a message says and not
// made anew.
type observer struct {
	c      *Collector
	store  string
	topics table[topicHandle]
	queues table[queueHandle]
	jobs   table[outcomes]
	steps  table[prometheus.Counter]
}

// topicHandle is what is counted of a queue and topic.
type topicHandle struct {
	outcomes
	enqueued     prometheus.Counter
	took, waited prometheus.Observer
}

type queueHandle struct{ claimed, reaped prometheus.Counter }

// outcomes are counters that are made when they are first needed: most outcomes are
// rare. The common ones are there from the start, so that a rate has a zero to rise
// from.
type outcomes struct {
	made [worker.OutcomeCancelled + 1]atomic.Pointer[prometheus.Counter]
	make func(outcome string) prometheus.Counter
}

func (o *outcomes) begin(build func(outcome string) prometheus.Counter) {
	o.make = build
	for _, common := range []worker.Outcome{worker.OutcomeAcked, worker.OutcomeRetried, worker.OutcomeFailed} {
		o.of(common)
	}
}

func (o *outcomes) of(outcome worker.Outcome) prometheus.Counter {
	if outcome < 0 || int(outcome) >= len(o.made) {
		return o.make(outcome.String())
	}
	if known := o.made[outcome].Load(); known != nil {
		return *known
	}
	counter := o.make(outcome.String())
	o.made[outcome].Store(&counter)
	return counter
}

// topic returns the handle of a queue and topic.
func (o *observer) topic(queue, topic string) *topicHandle {
	if h := o.topics.find(pair{queue, topic}); h != nil {
		return h
	}
	return o.learnTopic(o.c.queues.label(queue), o.c.topics.label(topic))
}

// The handles are made in functions of their own: what they keep would otherwise
// cost memory even when it is found.
func (o *observer) learnTopic(queue, topic string) *topicHandle {
	return o.topics.add(pair{queue, topic}, func() *topicHandle {
		v := &o.c.counted
		h := &topicHandle{
			enqueued: v.enqueued.WithLabelValues(o.values(queue, topic)...),
			took:     v.took.WithLabelValues(topic), waited: v.waited.WithLabelValues(topic),
		}
		h.begin(func(outcome string) prometheus.Counter {
			return v.attempts.WithLabelValues(o.values(queue, topic, outcome)...)
		})
		return h
	})
}

func (o *observer) queue(queue string) *queueHandle {
	if h := o.queues.find(pair{a: queue}); h != nil {
		return h
	}
	return o.learnQueue(o.c.queues.label(queue))
}

func (o *observer) learnQueue(queue string) *queueHandle {
	return o.queues.add(pair{a: queue}, func() *queueHandle {
		v := &o.c.counted
		return &queueHandle{v.claimed.WithLabelValues(o.values(queue)...), v.reaped.WithLabelValues(o.values(queue)...)}
	})
}

func (o *observer) job(name string) *outcomes {
	if h := o.jobs.find(pair{a: name}); h != nil {
		return h
	}
	return o.learnJob(o.c.jobs.label(name))
}

func (o *observer) learnJob(name string) *outcomes {
	return o.jobs.add(pair{a: name}, func() *outcomes {
		h := &outcomes{}
		h.begin(func(outcome string) prometheus.Counter {
			return o.c.counted.jobs.WithLabelValues(o.values(name, outcome)...)
		})
		return h
	})
}

func (o *observer) values(values ...string) []string { return o.c.catalogue.values(o.store, values...) }

// enqueued counts messages that were written.
func (o *observer) enqueued(queue, topic string, n int) {
	o.topic(queue, topic).enqueued.Add(float64(n))
}

// claimed counts messages that a claim brought.
func (o *observer) claimed(queue string, n int) { o.queue(queue).claimed.Add(float64(n)) }

// reaped counts messages whose lease had run out.
func (o *observer) reaped(queue string, n int64) { o.queue(queue).reaped.Add(float64(n)) }

// attempted counts and measures attempts.
func (o *observer) attempted(some []worker.Attempt) {
	for i := range some {
		o.count(&some[i])
	}
}

func (o *observer) count(a *worker.Attempt) {
	h := o.topic(a.Queue, a.Topic)
	h.of(a.Outcome).Inc()
	m, _ := a.Body.(*outbox.Message)
	name := ""
	if m != nil && len(m.Headers) > 0 {
		if name = m.Headers[job.HeaderJob]; name != "" {
			o.job(name).of(a.Outcome).Inc()
		}
	}
	if a.Took <= 0 || a.Outcome == worker.OutcomeUnhandled {
		return // no handler ran
	}
	h.took.Observe(a.Took.Seconds())
	if a.Retry > 0 {
		return
	}
	h.waited.Observe(a.Waited.Seconds())
	if !a.Scheduled || m == nil || m.Due.IsZero() {
		return
	}
	late := max(a.Began.Sub(m.Due), 0).Seconds()
	if name != "" {
		o.c.lateJobs.Observe(late)
	} else {
		o.c.lateMessages.Observe(late)
	}
}

// step counts a step of a flow at its end.
func (o *observer) step(ctx context.Context, s worker.Step) (context.Context, func(outcome string, err error)) {
	return ctx, func(outcome string, _ error) {
		k := pair{s.Topic, outcome}
		h := o.steps.find(k)
		if h == nil {
			h = o.learnStep(pair{o.c.topics.label(s.Topic), outcome})
		}
		(*h).Inc()
	}
}

func (o *observer) learnStep(k pair) *prometheus.Counter {
	return o.steps.add(k, func() *prometheus.Counter {
		c := o.c.counted.steps.WithLabelValues(o.values(k.a, k.b)...)
		return &c
	})
}

// acquired notes that a lease is held.
func (o *observer) acquired(name string, token int64) {
	label := o.c.leases.label(name)
	v, labels := &o.c.counted, o.values(label)
	v.leaseHeld.WithLabelValues(labels...).Inc()
	if label != other {
		v.leaseToken.WithLabelValues(labels...).Set(float64(token))
	}
	v.leaseAcquired.WithLabelValues(labels...).Inc()
	v.leaseLost.WithLabelValues(labels...).Add(0)
}

// ended notes that a lease is held no more.
func (o *observer) ended(name string, lost bool) {
	v, labels := &o.c.counted, o.values(o.c.leases.label(name))
	v.leaseHeld.WithLabelValues(labels...).Dec()
	if lost {
		v.leaseLost.WithLabelValues(labels...).Inc()
	}
}

// fired and made count what the scheduler did.
func (o *observer) fired(n int64) {
	o.c.counted.fired.WithLabelValues(o.values()...).Add(float64(n))
}

func (o *observer) made(n int64) {
	o.c.counted.made.WithLabelValues(o.values()...).Add(float64(n))
}

// repaired counts what the clean-up of joins had to put right.
func (o *observer) repaired(joins, waits int64) {
	o.c.counted.repaired.WithLabelValues(o.values("counters")...).Add(float64(joins))
	o.c.counted.repaired.WithLabelValues(o.values("waits")...).Add(float64(waits))
}
