// Package activity counts what the workers of a process do with messages, by minute, queue and
// topic, and has the numbers written with the process's heartbeat.
//
// Numbers of a minute are written in full each time, under an id that only this process has: a write
// whose commit is unknown is repeated and counts once, nobody waits for another one's row, and what
// handling a message costs is an addition in memory. What programs settle that claim themselves is added
// to rows of their sessions: see op.ActivityCount.
package activity

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	// maxTopics is of how many topics with their queues a process counts in a minute; the rest are
	// counted together, under no name.
	maxTopics = 200
	// maxPending is for how many minutes numbers are kept that could not be written.
	maxPending = 60
	// syncEvery is how often the database's clock is read, beside the one time at the beginning.
	syncEvery = time.Minute
)

// Counters are a process's. They are safe for concurrent use.
type Counters struct {
	mu     sync.Mutex
	id     uuid.UUID // under which rows are written
	cells  map[key]*cell
	topics map[int64]int // how many of a minute have cells
	minute int64         // the latest one
	synced time.Time     // when the database's clock was read; zero: not yet
	clock  time.Time     // what it said
	ahead  time.Duration // by which this process's clock was ahead of it
	// trouble, of capacity 1, is full when what was counted should be written soon.
	trouble chan struct{}
}

type key struct {
	minute       int64 // noMinute: it is not known yet
	queue, topic string
}

// noMinute is the minute of what happened before the database's clock was known.
const noMinute = -1

// New returns counters at zero.
func New() *Counters {
	return &Counters{id: uuid.New(), cells: map[key]*cell{}, topics: map[int64]int{}, minute: noMinute, trouble: make(chan struct{}, 1)}
}

// Trouble returns a channel that receives when for the first time in a minute an attempt of a topic
// failed, or a message of it had no handler: operators should not have to wait for the next heartbeat.
func (c *Counters) Trouble() <-chan struct{} { return c.trouble }

// Observer returns the observer that counts.
func (c *Counters) Observer() *worker.Observer { return &worker.Observer{Attempted: c.attempted} }

func (c *Counters) attempted(some []worker.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	minute := c.minuteAt(now)
	for i := range some {
		if a := &some[i]; counted(a.Outcome) {
			one := c.cell(minute, a.Queue, a.Topic)
			well := one.well()
			one.add(a, c.dueToBegin(a))
			if well && !one.well() {
				c.signal()
			}
		}
	}
}

func (c *Counters) signal() {
	select {
	case c.trouble <- struct{}{}:
	default:
	}
}

// counted reports whether an outcome is one of those that have a column.
func counted(o worker.Outcome) bool {
	switch o {
	case worker.OutcomeAcked, worker.OutcomeSettled, worker.OutcomeFailed, worker.OutcomeRetried, worker.OutcomeExpired, worker.OutcomeUnhandled:
		return true
	}
	return false
}

// dueToBegin returns for how long the item of an attempt had been due when its first attempt began,
// by the database's clock; negative: it is not known, or was another attempt.
func (c *Counters) dueToBegin(a *worker.Attempt) time.Duration {
	if a.Retry > 0 || a.Began.IsZero() || a.Since.IsZero() {
		return -1
	}
	if c.synced.IsZero() {
		return a.Waited // by this process's clock
	}
	return max(0, c.clock.Add(a.Began.Sub(c.synced)).Sub(a.Since))
}

// minuteAt returns the minute that the database's clock shows at a time of this process. Where that
// clock was set back the numbers go on under another id: the rows of those minutes are written.
func (c *Counters) minuteAt(now time.Time) int64 {
	if c.synced.IsZero() {
		return noMinute
	}
	minute := minuteOf(c.clock.Add(now.Sub(c.synced)))
	if minute < c.minute-1 {
		c.id, c.minute = uuid.New(), minute
	}
	c.minute = max(c.minute, minute)
	return c.minute
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// cell returns the numbers of a topic in a minute.
func (c *Counters) cell(minute int64, queue, topic string) *cell {
	k := key{minute, queue, topic}
	one := c.cells[k]
	if one == nil && c.topics[minute] >= maxTopics {
		k.queue, k.topic = "", ""
		one = c.cells[k]
	}
	if one == nil {
		one = &cell{id: c.id}
		c.cells[k] = one
		c.topics[minute]++
	}
	return one
}

// Empty reports whether nothing was counted that was not written yet.
func (c *Counters) Empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.cells) == 0
}

// Sync reads the database's clock if that was not done lately.
func (c *Counters) Sync(ctx context.Context, db engine.DB) error {
	c.mu.Lock()
	recent := !c.synced.IsZero() && time.Since(c.synced) <= syncEvery
	c.mu.Unlock()
	if recent {
		return nil
	}
	asked := time.Now()
	clock, _, err := engine.Get(ctx, db, op.ClockNow{})
	if err == nil {
		c.sync(clock.Now, asked, time.Now())
	}
	return err
}

// Ahead returns by how much this process's clock was ahead of the database's when that was last
// read; 0: by less than can be told.
func (c *Counters) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// sync takes what the database's clock said between two times of this process's.
func (c *Counters) sync(clock, asked, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock, c.synced, c.ahead = clock, now, 0
	half := now.Sub(asked) / 2
	if ahead := now.Add(-half).Sub(clock); ahead.Abs() > half {
		c.ahead = ahead
	}
	minute := c.minuteAt(now)
	for k, early := range c.cells {
		if k.minute == noMinute {
			c.cell(minute, k.queue, k.topic).merge(early)
			delete(c.cells, k)
		}
	}
	delete(c.topics, noMinute)
}

// Pending returns the calls that write what was not written yet, and a function to be called once they
// were committed.
func (c *Counters) Pending() (calls []*engine.Call, written func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := map[key]int64{}
	for k, one := range c.cells {
		switch {
		case k.minute == noMinute:
		case k.minute < c.minute-maxPending:
			delete(c.cells, k)
		case one.changes != one.written:
			sent[k] = one.changes
			calls = append(calls, engine.Ask(op.ActivityPut{Activity: one.row(k)}))
		}
	}
	return calls, func() { c.written(sent) }
}

func (c *Counters) written(sent map[key]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, changes := range sent {
		if one := c.cells[k]; one != nil {
			one.written = changes
		}
	}
	for k, one := range c.cells {
		if k.minute < c.minute && one.changes == one.written {
			delete(c.cells, k)
		}
	}
	for minute := range c.topics {
		if minute < c.minute {
			delete(c.topics, minute)
		}
	}
}
