package engine

import "sync"

// Notifier wakes the sleepers of one process. The zero value is ready to use.
type Notifier struct {
	mu    sync.Mutex
	waits map[string]map[chan struct{}]struct{}
}

// Listen returns a channel that receives after a Ring of queue; rings that
// come while one is pending are merged with it.
func (b *Notifier) Subscribe(queue string) chan struct{} {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits == nil {
		b.waits = map[string]map[chan struct{}]struct{}{}
	}
	if b.waits[queue] == nil {
		b.waits[queue] = map[chan struct{}]struct{}{}
	}
	b.waits[queue][c] = struct{}{}
	return c
}

// Leave ends what Listen began.
func (b *Notifier) Unsubscribe(queue string, c chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waits[queue], c)
}

// Ring wakes everyone who listens to queue.
func (b *Notifier) Notify(queue string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.waits[queue] {
		knock(c)
	}
}

// RingAll wakes everyone.
func (b *Notifier) NotifyAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, waits := range b.waits {
		for c := range waits {
			knock(c)
		}
	}
}

func knock(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
