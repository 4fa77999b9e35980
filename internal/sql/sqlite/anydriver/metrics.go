package anydriver

import (
	"database/sql/driver"
	"math"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// metrics adds the operations of the metrics.
func (a answers) metrics() { listing(a, readBacklog) }

func metricsStatements() []engine.Operation {
	return []engine.Operation{
		metricsParked{}, metricsClaimedTopics{}, metricsClaimedTotal{}, metricsFailed{}, metricsLaneTopics{}, metricsLaneTotal{}, metricsLanes{},
		metricsTopicsParked{},
	}
}

// metricsLanes lists the first lanes.
type metricsLanes struct {
	engine.Rows[metricsLane]
	Most int64
}

// metricsLane is a queue at one priority.
type metricsLane struct {
	ID     int64
	Queue  string
	Paused bool
}

// metricsPart is a part of a lane: its first runs that may be claimed after one time and by
// another.
type metricsPart struct{ Lane, After, By, Runs int64 }

// metricsLaneTotal counts a part. One row.
type metricsLaneTotal struct {
	engine.Rows[metricsTotal]
	metricsPart
}

type metricsTotal struct {
	Runs int64
	N    int64 // messages
}

// metricsLaneTopics counts the first messages of a part by topic.
type metricsLaneTopics struct {
	engine.Rows[metricsWaiting]
	metricsPart
	Messages int64
}

type metricsWaiting struct {
	Topic string
	N     int64
	Since int64
}

// metricsClaimedTotal counts the messages of the first claimed runs by lane.
type metricsClaimedTotal struct {
	engine.Rows[metricsClaimed]
	Runs int64
}

type metricsClaimed struct{ Lane, N, Runs int64 }

// metricsClaimedTopics counts the first messages of these runs by lane and topic.
type metricsClaimedTopics struct {
	engine.Rows[metricsClaimedTopic]
	Runs, Messages int64
}

type metricsClaimedTopic struct {
	Lane  int64
	Topic string
	N     int64
}

// metricsTopicsParked lists topics that are paused, and where their messages are parked.
type metricsTopicsParked struct {
	engine.Rows[metricsTopicAside]
	Most int64
}

type metricsTopicAside struct {
	Topic string
	Lane  int64
}

// metricsParked counts the messages of the first runs that are parked in a lane, by their
// queue.
type metricsParked struct {
	engine.Rows[metricsQueueAside]
	Lane, Runs int64
}

type metricsQueueAside struct {
	Queue          string
	N, Runs, Since int64
}

// metricsFailed counts the first messages that failed for good by queue and topic.
type metricsFailed struct {
	engine.Rows[metricsFailedTopic]
	Messages int64
}

type metricsFailedTopic struct {
	Queue, Topic string
	N            int64
}

// backlog builds the result of an op.MetricsBacklog. Every read is bounded.
type backlog struct {
	t              *txn
	op             op.MetricsBacklog
	each           func(engine.Row) error
	runs, messages int64 // limits for one lane
	lanes          []metricsLane
}

// minShare is the lowest limit for a lane, however many lanes there are.
const minShare = 100

func readBacklog(t *txn, o op.MetricsBacklog, each func(engine.Row) error) (err error) {
	b := &backlog{t: t, op: o, each: each}
	if b.lanes, err = rows(t, metricsLanes{Most: o.Lanes}); err != nil {
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

// ready counts what a lane has due, and what is scheduled.
func (b *backlog) ready(l metricsLane) error {
	state := "ready"
	if l.Paused {
		state = "paused"
	}
	if err := b.part(l, state, math.MinInt64, b.t.now); err != nil {
		return err
	}
	return b.part(l, "scheduled", b.t.now, math.MaxInt64)
}

// part counts a part of a lane, by time.
func (b *backlog) part(l metricsLane, state string, after, by int64) error {
	part := metricsPart{l.ID, after, by, b.runs}
	total, _, err := one(b.t, metricsLaneTotal{metricsPart: part})
	if err != nil {
		return err
	}
	if total.Runs > 0 {
		err = each(b.t, metricsLaneTopics{metricsPart: part, Messages: b.messages}, func(w *metricsWaiting) error {
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
	err := each(b.t, metricsClaimedTotal{Runs: b.op.Runs}, func(c *metricsClaimed) error {
		rest[c.Lane] = c.N
		all += c.Runs
		return nil
	})
	if err != nil || all == 0 {
		return err
	}
	err = each(b.t, metricsClaimedTopics{Runs: b.op.Runs, Messages: b.op.Messages}, func(c *metricsClaimedTopic) error {
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

// parked counts messages of paused topics: a parked run has one topic.
func (b *backlog) parked() error {
	topics, err := rows(b.t, metricsTopicsParked{Most: b.op.Lanes})
	if err != nil {
		return err
	}
	for _, p := range topics {
		err := each(b.t, metricsParked{Lane: p.Lane, Runs: b.runs}, func(q *metricsQueueAside) error {
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
	all, err := rows(b.t, metricsFailed{Messages: b.op.Messages})
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
