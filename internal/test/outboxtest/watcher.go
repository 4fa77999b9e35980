// Package outboxtest has what tests of outboxes in several packages need.
package outboxtest

import (
	"maps"
	"slices"
	"sync"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Watcher is an observer that remembers what it was told.
type Watcher struct {
	mu       sync.Mutex
	enqueued map[string]int
	claimed  map[string]int
	reaped   map[string]int64
	attempts []worker.Attempt
}

// NewWatcher returns one that knows nothing yet.
func NewWatcher() *Watcher {
	return &Watcher{enqueued: map[string]int{}, claimed: map[string]int{}, reaped: map[string]int64{}}
}

// Observer returns the functions to register.
func (w *Watcher) Observer() worker.Observer {
	return worker.Observer{Enqueued: w.enqueuedSome, Claimed: w.claimedSome, Attempted: w.attempted, Reaped: w.reapedSome}
}

// enqueuedSome remembers messages by "queue/topic".
func (w *Watcher) enqueuedSome(queue, topic string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueued[queue+"/"+topic] += n
}

// claimedSome remembers how many.
func (w *Watcher) claimedSome(queue string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claimed[queue] += n
}

// attempted remembers attempts.
func (w *Watcher) attempted(some []worker.Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts = append(w.attempts, some...)
}

// reapedSome remembers how many.
func (w *Watcher) reapedSome(queue string, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reaped[queue] += n
}

// Claims returns how many items were claimed from a queue.
func (w *Watcher) Claims(queue string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.claimed[queue]
}

// Reaps returns how many items were reaped, in all queues.
func (w *Watcher) Reaps() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, some := range w.reaped {
		n += some
	}
	return n
}

// Messages returns what was enqueued, by "queue/topic".
func (w *Watcher) Messages() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.enqueued)
}

// Attempts returns what was attempted of a topic.
func (w *Watcher) Attempts(topic string) []worker.Attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.attempts), func(a worker.Attempt) bool { return a.Topic != topic })
}

// PerMessage returns how often attempts of each message ended in an outcome.
func (w *Watcher) PerMessage(o worker.Outcome) map[outbox.MessageID]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[outbox.MessageID]int{}
	for _, a := range w.attempts {
		if a.Outcome == o {
			n[a.Body.(*outbox.Message).ID]++
		}
	}
	return n
}
