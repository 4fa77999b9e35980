package inbox

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Internal is for packages of this module: programs cannot name its parameter.
func (i *Inbox) Internal(access.Key) *worker.Component {
	c := *i.messages.Component()
	queue := c
	c.Sources = nil // those of the outbox
	c.RunSlice = func(ctx context.Context, t worker.TimeSlice) error {
		if err := i.valid(); err != nil || !i.served {
			return err
		}
		return queue.RunSlice(ctx, t)
	}
	c.Cleanup = i.cleanup // the messages are cleaned up by the outbox, with its retention period
	c.Status = func() []worker.LoopStatus {
		if !i.served {
			return nil
		}
		return queue.Status()
	}
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
