package outbox

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/worker"
)

// observing has the observers, and the functions that add headers to every message.
type observing struct {
	observers atomic.Pointer[observers]
	stamps    atomic.Pointer[[]HeaderFunc]
}

// HeaderFunc returns headers from the context in which a message is enqueued, such as the trace that
// it belongs to. It must not change the message; nil adds nothing. It is called concurrently.
type HeaderFunc func(ctx context.Context, m *Message) map[string]string

// Observe registers o. Call it before Run.
func (o *Outbox) Observe(obs worker.Observer) {
	all := observers{obs}
	if known := o.watch.observers.Load(); known != nil {
		all = append(append(observers{}, *known...), obs)
	}
	o.watch.observers.Store(&all)
}

// AddHeaders adds the headers that f returns to every message from now on. Headers that a message
// has already are not replaced. What would make them too large is left out.
func (o *Outbox) AddHeaders(f HeaderFunc) {
	all := []HeaderFunc{f}
	if known := o.watch.stamps.Load(); known != nil {
		all = append(append([]HeaderFunc{}, *known...), f)
	}
	o.watch.stamps.Store(&all)
}

// Pauses returns the pauses that this outbox's workers obey.
func (o *Outbox) Pauses() *pause.Pauses { return o.pauses }

// LoopStatus returns the status of the loops of this process: one for each queue, and the one
// that cleans up.
func (o *Outbox) LoopStatus() []worker.LoopStatus {
	var all []worker.LoopStatus
	for _, queue := range o.opts.Queues {
		all = append(all, o.statsOf(queue).Tracker.Status("queue "+queue))
	}
	return append(all, o.cleaning.Status("clean-up of messages"))
}

// Worker returns the name of this process, as in processed_by.
func (o *Outbox) Worker() string { return o.opts.Worker }

// Concurrency returns how many handlers run at once in this process, of all its queues.
func (o *Outbox) Concurrency() int {
	n := 0
	for _, queue := range o.opts.Queues {
		n += o.concurrency(queue)
	}
	return n
}

// concurrency returns how many handlers of a queue run at once.
func (o *Outbox) concurrency(queue string) int {
	return cmp.Or(max(o.opts.QueueConcurrency[queue], 0), max(o.opts.Concurrency, 0), worker.DefaultConcurrency)
}

// QueueStats returns what this process did for one of its queues.
func (o *Outbox) QueueStats(queue string) worker.Counts { return o.statsOf(queue).Counts() }

// unhandledFor is longer than the longest delay of messages without a handler.
const unhandledFor = 2 * time.Minute

// Unhandled returns the topics of messages that this process claimed recently without having a
// handler for them, in order.
func (o *Outbox) Unhandled() []string {
	r := &o.handlers
	r.mu.RLock()
	defer r.mu.RUnlock()
	var topics []string
	for topic, m := range r.missing {
		if time.Since(m.last) < unhandledFor {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	return topics
}

func (o *Outbox) statsOf(queue string) *worker.Stats {
	stats, _ := o.stats.LoadOrStore(queue, &worker.Stats{})
	return stats.(*worker.Stats)
}

// withHeaders returns the messages with added headers; the caller's are not changed.
func (o *Outbox) withHeaders(ctx context.Context, msgs []Message) []Message {
	stamps := o.watch.stamps.Load()
	if stamps == nil {
		return msgs
	}
	all := msgs
	for i := range msgs {
		for _, stamp := range *stamps {
			headers := stamp(ctx, &msgs[i])
			if len(headers) == 0 {
				continue
			}
			if &all[0] == &msgs[0] {
				all = slices.Clone(msgs)
			}
			all[i].addHeaders(headers)
		}
	}
	return all
}

// addHeaders adds headers, unless they exist or make the message too large.
func (m *Message) addHeaders(headers map[string]string) {
	all := maps.Clone(headers)
	maps.Copy(all, m.Headers)
	if checkHeaders(all) == nil {
		m.Headers = all
	}
}

// notifyEnqueued notifies observers that messages were written.
func (o *Outbox) notifyEnqueued(ctx context.Context, entries []*entry) {
	o.logEnqueued(ctx, entries)
	observers := o.watch.observers.Load()
	if observers == nil {
		return
	}
	var few [fewTopics]topicCount
	shares := few[:0]
	for _, e := range entries {
		shares = observers.count(shares, e.msg.queue(), e.msg.Topic)
	}
	observers.tell(shares)
}

// topicCount is how many messages of a batch have a topic.
type topicCount struct {
	queue, topic string
	n            int
}

// fewTopics is how many topics of a batch are added up before observers are notified. With one call
// per message, two producers contend for the counters.
const fewTopics = 16

// count adds a message to the count of its topic.
func (all observers) count(shares []topicCount, queue, topic string) []topicCount {
	for i := range shares {
		if s := &shares[i]; s.topic == topic && s.queue == queue {
			s.n++
			return shares
		}
	}
	if len(shares) == cap(shares) {
		all.tell(shares)
		shares = shares[:0]
	}
	return append(shares, topicCount{queue, topic, 1})
}

func (all observers) tell(shares []topicCount) {
	for _, s := range shares {
		all.Enqueued(s.queue, s.topic, s.n)
	}
}

// observers are notified one after the other.
type observers []worker.Observer

func (all observers) Enqueued(queue, topic string, n int) {
	for _, o := range all {
		o.Enqueued(queue, topic, n)
	}
}

func (all observers) Claimed(queue string, n int) {
	for _, o := range all {
		o.Claimed(queue, n)
	}
}

func (all observers) Attempted(some []worker.Attempt) {
	for _, o := range all {
		o.Attempted(some)
	}
}

func (all observers) Reaped(queue string, n int64) {
	for _, o := range all {
		o.Reaped(queue, n)
	}
}
