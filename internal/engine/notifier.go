package engine

import "sync"

// Notifier wakes the waiters of one process. The zero value is ready to use.
type Notifier struct {
	mu          sync.Mutex
	subscribers map[string]map[chan struct{}]struct{}
}

// Subscribe returns a channel that receives after a Notify of queue; notifications that
// arrive while one is pending are merged with it.
func (b *Notifier) Subscribe(queue string) chan struct{} {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subscribers == nil {
		b.subscribers = map[string]map[chan struct{}]struct{}{}
	}
	if b.subscribers[queue] == nil {
		b.subscribers[queue] = map[chan struct{}]struct{}{}
	}
	b.subscribers[queue][c] = struct{}{}
	return c
}

// Unsubscribe removes a channel that Subscribe returned.
func (b *Notifier) Unsubscribe(queue string, c chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subscribers[queue], c)
}

// Notify wakes all subscribers of queue.
func (b *Notifier) Notify(queue string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.subscribers[queue] {
		notify(c)
	}
}

// NotifyAll wakes all subscribers.
func (b *Notifier) NotifyAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, subscribers := range b.subscribers {
		for c := range subscribers {
			notify(c)
		}
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
