package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/worker"
)

// observing is the observers and the functions that add headers.
type observing struct {
	observers atomic.Pointer[worker.Observers]
	enqueues  atomic.Bool // one of them is notified of enqueues
	headers   atomic.Pointer[[]headerFunc]
}

// headerFunc is a function of AddHeaders.
type headerFunc = func(ctx context.Context, m *Message) map[string]string

// observe registers an observer of the loops that start from now on.
func (o *Outbox) observe(obs *worker.Observer) {
	all := append(slices.Clone(o.observers()), obs)
	o.watch.observers.Store(&all)
	if obs.Enqueued != nil {
		o.watch.enqueues.Store(true)
	}
}

func (o *Outbox) observers() worker.Observers {
	if known := o.watch.observers.Load(); known != nil {
		return *known
	}
	return nil
}

// AddHeaders adds the headers that f returns to every message that is enqueued from now on.
func (o component) AddHeaders(f func(ctx context.Context, m *Message) map[string]string) {
	all := []headerFunc{f}
	if known := o.watch.headers.Load(); known != nil {
		all = append(append([]headerFunc{}, *known...), f)
	}
	o.watch.headers.Store(&all)
}

// loopStatus returns the status of the loops of this process: one for each queue.
func (o *Outbox) loopStatus() []worker.LoopStatus {
	var all []worker.LoopStatus
	for _, queue := range o.opts.Queues {
		all = append(all, o.statsOf(queue).Tracker.Status("queue "+queue))
	}
	return all
}

// allConcurrency returns how many handlers run at once in this process, of all its queues.
func (o *Outbox) allConcurrency() int {
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

func (o *Outbox) statsOf(queue string) *worker.Stats {
	stats, _ := o.stats.LoadOrStore(queue, &worker.Stats{})
	return stats.(*worker.Stats)
}

// withHeaders returns the messages with added headers; the caller's are not changed.
func (o *Outbox) withHeaders(ctx context.Context, msgs []Message) []Message {
	functions := o.watch.headers.Load()
	if functions == nil {
		return msgs
	}
	all := msgs
	for i := range msgs {
		for _, f := range *functions {
			headers := f(ctx, &msgs[i])
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

// notifyEnqueued logs messages that were written and notifies the observers.
func (o *Outbox) notifyEnqueued(ctx context.Context, entries []*entry) {
	if len(entries) > 0 && o.log.Enabled(ctx, slog.LevelInfo) {
		o.logEnqueued(ctx, entries)
	}
	if !o.watch.enqueues.Load() {
		return
	}
	var few [fewTopics]topicCount
	counts := few[:0]
	for _, e := range entries {
		counts = count(o.observers(), counts, e.msg.queue(), e.msg.Topic)
	}
	notifyCounts(o.observers(), counts)
}

// topicCount is how many messages of a batch have a topic.
type topicCount struct {
	queue, topic string
	n            int
}

// fewTopics is how many topics of a batch are added up before observers are notified. With
// one call per message, two producers contend for the counters.
const fewTopics = 16

// count adds a message to the count of its topic.
func count(all worker.Observers, counts []topicCount, queue, topic string) []topicCount {
	for i := range counts {
		if c := &counts[i]; c.topic == topic && c.queue == queue {
			c.n++
			return counts
		}
	}
	if len(counts) == cap(counts) {
		notifyCounts(all, counts)
		counts = counts[:0]
	}
	return append(counts, topicCount{queue, topic, 1})
}

func notifyCounts(all worker.Observers, counts []topicCount) {
	for _, o := range all {
		if o.Enqueued == nil {
			continue
		}
		for _, c := range counts {
			o.Enqueued(c.queue, c.topic, c.n)
		}
	}
}
