package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// ErrBacklog is returned by calls that enqueue into a queue in which as many messages wait as
// pawl.Options.MaxBacklog allows. Nothing was stored, and the call may be made again later.
var ErrBacklog = errors.New("backlog too large")

const (
	// backlogFresh is how long a count holds, together with what this process has added since.
	backlogFresh = time.Second
	// backlogFull is the same once no more are allowed: workers may have made room.
	backlogFull = 100 * time.Millisecond
	// backlogPart is which part of a limit a process adds before it counts anew rather than refuse: what it
	// added may have been handled.
	backlogPart = 10
	// backlogShare bounds the time spent counting: a count that took long holds so many times as long.
	backlogShare = 20
	// backlogLimit is how long a call waits for a count.
	backlogLimit = 250 * time.Millisecond
	// backlogWarned is the least time between two warnings of a queue.
	backlogWarned = time.Minute
)

// backlogs are how many messages wait in queues that have a limit.
type backlogs struct {
	mu sync.Mutex
	of map[string]*backlog
}

type backlog struct {
	read, warned time.Time
	took         time.Duration
	waiting      int64 // when it was read, and what this process has added since
	added        int64
	due          bool // somebody counts
}

// admit returns ErrBacklog if a queue of new messages is full or, where that is only to be warned of, warns. The
// limit is for producers: what waits already, retries, and what timers, jobs and joins send pass.
func (o *Outbox) admit(ctx context.Context, msgs []Message) error {
	more, now := map[string]int64{}, time.Now()
	for i := range msgs {
		if more[msgs[i].queue()] += 0; !msgs[i].Due.After(now) {
			more[msgs[i].queue()]++
		}
	}
	for queue, n := range more {
		most, limited := o.opts.MaxBacklog[queue]
		if !limited {
			continue
		}
		if err := o.admitTo(ctx, queue, n, int64(most)); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outbox) admitTo(ctx context.Context, queue string, n, most int64) error {
	b := o.backlogs.check(queue, most)
	if b.due {
		o.count(ctx, queue, most)
		b = o.backlogs.check(queue, most)
	}
	if b.waiting < most || o.opts.WarnOfBacklog {
		if o.backlogs.add(queue, n, b.waiting >= most) {
			o.log.WarnContext(ctx, "backlog too large", "queue", queue, "waiting", b.waiting, "limit", most)
		}
		return nil
	}
	return fmt.Errorf("%w: in queue %q %d messages wait, and MaxBacklog is %d", ErrBacklog, queue, b.waiting, most)
}

// count reads how many messages wait, over another connection than that of a caller's transaction, who must not
// wait for it for long. Without an answer the last count holds.
func (o *Outbox) count(ctx context.Context, queue string, most int64) {
	ctx, cancel := context.WithTimeout(ctx, backlogLimit)
	defer cancel()
	began := time.Now()
	waiting, _, err := engine.Get(ctx, o.db, op.OutboxWaiting{Queue: queue, Most: most})
	if err != nil {
		o.log.DebugContext(ctx, "could not count what waits, will retry", "queue", queue, "error", err)
	}
	o.backlogs.counted(queue, waiting.N, time.Since(began), err == nil)
}

// check returns what is known of a queue. due is true for the caller who is to count, one at a time.
func (all *backlogs) check(queue string, most int64) (known backlog) {
	all.mu.Lock()
	defer all.mu.Unlock()
	b := all.of[queue]
	if b == nil {
		b = &backlog{}
		if all.of == nil {
			all.of = map[string]*backlog{}
		}
		all.of[queue] = b
	}
	fresh := backlogFresh
	switch {
	case b.waiting >= most && b.added >= most/backlogPart:
		fresh = 0
	case b.waiting >= most:
		fresh = backlogFull
	}
	known = *b
	if known.due = !b.due && time.Since(b.read) > max(fresh, backlogShare*b.took); known.due {
		b.due = true
	}
	return known
}

// counted ends what check began.
func (all *backlogs) counted(queue string, waiting int64, took time.Duration, ok bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	b := all.of[queue]
	if b.due, b.read, b.took = false, time.Now(), took; ok {
		b.waiting, b.added = waiting, 0
	}
}

// add adds messages that are about to be stored, and tells whether to warn of a queue that is full.
func (all *backlogs) add(queue string, n int64, full bool) (warn bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	b := all.of[queue]
	b.waiting, b.added = b.waiting+n, b.added+n
	if warn = full && time.Since(b.warned) >= backlogWarned; warn {
		b.warned = time.Now()
	}
	return warn
}
