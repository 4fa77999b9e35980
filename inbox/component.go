package inbox

import (
	"context"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// component is the inbox as pawl.Pawl sees it.
type component struct{ *Inbox }

// Component returns the part that Run runs.
func (i component) Component() *worker.Component {
	c := *i.messages.Component()
	queue := c
	c.Sources = nil // those of the outbox
	c.RunSlice = func(ctx context.Context, t worker.TimeSlice) error {
		if !i.served {
			return nil
		}
		return queue.RunSlice(ctx, t)
	}
	c.Cleanup = worker.NewCleanup("inbox", "the inbox", i.log, i.cleanUp) // the messages are cleaned up by the outbox, with its retention period
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
