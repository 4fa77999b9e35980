package inbox

import (
	"context"
	"fmt"
	"sync"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Internal is for packages of this module: programs cannot name its parameter.
func (i *Inbox) Internal(access.Key) *worker.Component {
	c := *i.messages.Component()
	queue := c
	c.RunSlice = func(ctx context.Context, t worker.TimeSlice) error {
		if err := i.valid(); err != nil || !i.served {
			return err
		}
		return queue.RunSlice(ctx, t)
	}
	c.KeepClean = func(ctx context.Context) { i.keepClean(ctx, &queue) }
	c.CleanUp = i.CleanUp
	c.Status = func() []worker.LoopStatus { return i.status(&queue) }
	c.Queues = func() []string {
		if !i.served {
			return nil
		}
		return queue.Queues()
	}
	c.Concurrency = func() int {
		if !i.served {
			return 0
		}
		return queue.Concurrency()
	}
	return &c
}

// MessageIDOf returns the id of the message that Enqueue puts into the queue for a key.
func MessageIDOf(_ access.Key, k Key) outbox.MessageID { return messageID(&k) }

// valid returns what is wrong with the options.
func (i *Inbox) valid() error {
	if i.invalid != nil {
		return fmt.Errorf("options of the inbox: %w", i.invalid)
	}
	return nil
}

func (i *Inbox) keepClean(ctx context.Context, queue *worker.Component) {
	var loop sync.WaitGroup
	defer loop.Wait()
	if i.served {
		loop.Go(func() { queue.KeepClean(ctx) })
	}
	i.cleanLoop(ctx)
}

func (i *Inbox) cleanLoop(ctx context.Context) {
	worker.RunCleanup(ctx, i.log.With("component", "inbox"), i.cleaning, i.CleanUp)
}

// status returns the status of the queue's loops, if handlers are registered, and that of
// the clean-up.
func (i *Inbox) status(queue *worker.Component) []worker.LoopStatus {
	all := []worker.LoopStatus{i.cleaning.Status("clean-up of the inbox")}
	if i.served {
		loops := queue.Status()
		loops[len(loops)-1].Name += " (inbox)" // the outbox has its own
		all = append(loops, all...)
	}
	return all
}
