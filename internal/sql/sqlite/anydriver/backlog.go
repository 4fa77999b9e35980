package anydriver

import (
	"database/sql/driver"
	"math"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// backlog adds what answers an operation of the backlog.
func (a answers) backlog() { listing(a, readBacklog) }

func backlogStatements() []engine.Operation {
	return []engine.Operation{
		backlogParked{}, backlogClaimedTopics{}, backlogClaimedTotal{}, backlogFailed{}, backlogLaneTopics{}, backlogLaneTotal{}, backlogLanes{},
		backlogTopicsParked{},
	}
}

// backlogLanes lists the first lanes of queues.
type backlogLanes struct {
	engine.Rows[backlogLane]
	Queues []string // nil: all
	Most   int64
}

// backlogLane is a queue at one priority.
type backlogLane struct {
	ID     int64
	Queue  string
	Paused bool
}

// backlogPart is a part of a lane: its first runs that may be claimed after a time and
// by another.
type backlogPart struct{ Lane, After, By, Runs int64 }

// backlogLaneTotal counts a part. One row.
type backlogLaneTotal struct {
	engine.Rows[backlogTotal]
	backlogPart
}

type backlogTotal struct {
	Runs int64
	N    int64 // messages
}

// backlogLaneTopics counts the first messages of a part by topic.
type backlogLaneTopics struct {
	engine.Rows[backlogWaiting]
	backlogPart
	Messages int64
}

type backlogWaiting struct {
	Topic string
	N     int64
	Since int64
}

// backlogClaimedTotal counts the messages of the first claimed runs by lane.
type backlogClaimedTotal struct {
	engine.Rows[backlogClaimed]
	Runs int64
}

type backlogClaimed struct{ Lane, N, Runs int64 }

// backlogClaimedTopics counts the first messages of these runs by lane and topic.
type backlogClaimedTopics struct {
	engine.Rows[backlogClaimedTopic]
	Runs, Messages int64
}

type backlogClaimedTopic struct {
	Lane  int64
	Topic string
	N     int64
}

// backlogTopicsParked lists topics that are paused, and where they are parked.
type backlogTopicsParked struct {
	engine.Rows[backlogTopicAside]
	Most int64
}

type backlogTopicAside struct {
	Topic string
	Lane  int64
}

// backlogParked counts the messages of the first runs that are parked in a lane by
// the queue that they are of.
type backlogParked struct {
	engine.Rows[backlogQueueAside]
	Lane, Runs int64
}

type backlogQueueAside struct {
	Queue          string
	N, Runs, Since int64
}

// backlogFailed counts the first messages that failed for good by queue and topic.
type backlogFailed struct {
	engine.Rows[backlogFailedTopic]
	Messages int64
}

type backlogFailedTopic struct {
	Queue, Topic string
	N            int64
}

// backlog is an answer to an op.BacklogMessages. Every look is bounded.
type backlog struct {
	t              *txn
	op             op.BacklogMessages
	each           func(engine.Row) error
	runs, messages int64 // to look at of one lane
	lanes          []backlogLane
}

// minShare is the lowest limit for a lane, however many lanes there are.
const minShare = 100

func readBacklog(t *txn, o op.BacklogMessages, each func(engine.Row) error) (err error) {
	b := &backlog{t: t, op: o, each: each}
	if b.lanes, err = rows(t, backlogLanes{Queues: o.Queues, Most: o.Lanes}); err != nil {
		return err
	}
	share := max(int64(len(b.lanes)), 1)
	b.runs, b.messages = max(minShare, o.Runs/share), max(minShare, o.Messages/share)
	for _, l := range b.lanes {
		if err := b.ready(l); err != nil {
			return err
		}
	}
	if err := b.claimed(); err != nil {
		return err
	}
	if err := b.parked(); err != nil {
		return err
	}
	return b.failed()
}

// answer returns one row. Topic and age may be nil.
func (b *backlog) answer(state, queue string, topic driver.Value, n int64, age driver.Value, more bool) error {
	var hit int64
	if more {
		hit = 1
	}
	return b.each(row{state, queue, topic, n, age, hit})
}

// ready looks at what a lane has due, and at what it will have.
func (b *backlog) ready(l backlogLane) error {
	state := "ready"
	if l.Paused {
		state = "paused"
	}
	if err := b.part(l, state, math.MinInt64, b.t.now); err != nil {
		return err
	}
	return b.part(l, "scheduled", b.t.now, math.MaxInt64)
}

// part looks at a part of a lane, by time.
func (b *backlog) part(l backlogLane, state string, after, by int64) error {
	part := backlogPart{l.ID, after, by, b.runs}
	total, _, err := one(b.t, backlogLaneTotal{backlogPart: part})
	if err != nil {
		return err
	}
	if total.Runs > 0 {
		err = each(b.t, backlogLaneTopics{backlogPart: part, Messages: b.messages}, func(w *backlogWaiting) error {
			total.N -= w.N
			var age driver.Value
			if state != "scheduled" {
				age = b.t.now - w.Since
			}
			return b.answer(state, l.Queue, w.Topic, w.N, age, false)
		})
		if err != nil {
			return err
		}
	}
	return b.answer(state, l.Queue, nil, max(total.N, 0), nil, total.Runs >= b.runs)
}

// claimed counts what is under lease.
func (b *backlog) claimed() error {
	queues := map[int64]string{}
	for _, l := range b.lanes {
		queues[l.ID] = l.Queue
	}
	rest, all := map[int64]int64{}, int64(0)
	err := each(b.t, backlogClaimedTotal{Runs: b.op.Runs}, func(c *backlogClaimed) error {
		rest[c.Lane] = c.N
		all += c.Runs
		return nil
	})
	if err != nil || all == 0 {
		return err
	}
	err = each(b.t, backlogClaimedTopics{Runs: b.op.Runs, Messages: b.op.Messages}, func(c *backlogClaimedTopic) error {
		rest[c.Lane] -= c.N
		if _, known := queues[c.Lane]; !known {
			return nil
		}
		return b.answer("in_flight", queues[c.Lane], c.Topic, c.N, nil, false)
	})
	if err != nil {
		return err
	}
	for lane, n := range rest {
		if queue, known := queues[lane]; known {
			if err := b.answer("in_flight", queue, nil, max(n, 0), nil, all >= b.op.Runs); err != nil {
				return err
			}
		}
	}
	return nil
}

// parked counts messages of paused topics: a run of theirs has one topic.
func (b *backlog) parked() error {
	topics, err := rows(b.t, backlogTopicsParked{Most: b.op.Lanes})
	if err != nil {
		return err
	}
	for _, p := range topics {
		err := each(b.t, backlogParked{Lane: p.Lane, Runs: b.runs}, func(q *backlogQueueAside) error {
			return b.answer("paused", q.Queue, p.Topic, q.N, b.t.now-q.Since, q.Runs >= b.runs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// failed counts messages that failed for good.
func (b *backlog) failed() error {
	all, err := rows(b.t, backlogFailed{Messages: b.op.Messages})
	if err != nil {
		return err
	}
	var total int64
	for _, f := range all {
		total += f.N
	}
	for _, f := range all {
		if err := b.answer("failed", f.Queue, f.Topic, f.N, nil, total >= b.op.Messages); err != nil {
			return err
		}
	}
	return nil
}
