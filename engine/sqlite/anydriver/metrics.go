package anydriver

import (
	"database/sql/driver"
	"math"

	"github.com/bravellian/pawl/engine"
)

// backlog is an answer to metrics/backlog: args 0 runs, 1 messages to look at in
// all, 2 lanes. Every look is bounded; see the PostgreSQL file for the contract.
type backlog struct {
	t                      *txn
	c                      *engine.Call
	runs, messages         int64 // of one lane
	mostRuns, mostMessages int64 // in all: runs, messages
	lanes                  []lane
}

// lane is a queue at one priority.
type lane struct {
	id     int64
	queue  string
	paused bool
}

// metricsOperation returns what answers an operation of the metrics in Go.
func metricsOperation(name string) opFunc {
	if name == "backlog" {
		return readBacklog
	}
	return nil
}

// minShare is what a lane is looked at even if there are very many.
const minShare = 100

func readBacklog(t *txn, c *engine.Call) error {
	b := &backlog{t: t, c: c, mostRuns: int64(arg[int](c, 0)), mostMessages: int64(arg[int](c, 1))}
	most := arg[int](c, 2)
	err := t.query("metrics/lanes", func(r engine.Row) error {
		var l lane
		err := r.Scan(&l.id, &l.queue, &l.paused)
		b.lanes = append(b.lanes, l)
		return err
	}, most)
	if err != nil {
		return err
	}
	share := max(int64(len(b.lanes)), 1)
	b.runs, b.messages = max(minShare, b.mostRuns/share), max(minShare, b.mostMessages/share)
	for _, l := range b.lanes {
		if err := b.ready(l); err != nil {
			return err
		}
	}
	if err := b.claimed(); err != nil {
		return err
	}
	if err := b.aside(most); err != nil {
		return err
	}
	return b.failed()
}

// answer gives one row. Topic and age may be nil.
func (b *backlog) answer(state, queue string, topic driver.Value, n int64, age driver.Value, more bool) error {
	var hit int64
	if more {
		hit = 1
	}
	return b.c.Each(row{state, queue, topic, n, age, hit})
}

// ready looks at what a lane has due, and at what it will have.
func (b *backlog) ready(l lane) error {
	state := "ready"
	if l.paused {
		state = "paused"
	}
	if err := b.part(l, state, math.MinInt64, b.t.now); err != nil {
		return err
	}
	return b.part(l, "scheduled", b.t.now, math.MaxInt64)
}

// part looks at a part of a lane, by time.
func (b *backlog) part(l lane, state string, after, by int64) error {
	var runs, total int64
	err := b.t.query("metrics/lane_total", func(r engine.Row) error { return r.Scan(&runs, &total) }, l.id, after, by, b.runs)
	if err != nil {
		return err
	}
	if runs > 0 {
		err = b.t.query("metrics/lane_topics", func(r engine.Row) error {
			var topic string
			var n, at int64
			if err := r.Scan(&topic, &n, &at); err != nil {
				return err
			}
			total -= n
			var age driver.Value
			if state != "scheduled" {
				age = b.t.now - at
			}
			return b.answer(state, l.queue, topic, n, age, false)
		}, l.id, after, by, b.runs, b.messages)
		if err != nil {
			return err
		}
	}
	return b.answer(state, l.queue, nil, max(total, 0), nil, runs >= b.runs)
}

// claimed looks at what is under lease.
func (b *backlog) claimed() error {
	queues := map[int64]string{}
	for _, l := range b.lanes {
		queues[l.id] = l.queue
	}
	rest, all := map[int64]int64{}, int64(0)
	err := b.t.query("metrics/claimed_total", func(r engine.Row) error {
		var lane, n, runs int64
		err := r.Scan(&lane, &n, &runs)
		rest[lane] = n
		all += runs
		return err
	}, b.mostRuns)
	if err != nil || all == 0 {
		return err
	}
	err = b.t.query("metrics/claimed_topics", func(r engine.Row) error {
		var lane, n int64
		var topic string
		if err := r.Scan(&lane, &topic, &n); err != nil {
			return err
		}
		rest[lane] -= n
		if _, known := queues[lane]; !known {
			return nil
		}
		return b.answer("in_flight", queues[lane], topic, n, nil, false)
	}, b.mostRuns, b.mostMessages)
	if err != nil {
		return err
	}
	for lane, n := range rest {
		if queue, known := queues[lane]; known {
			if err := b.answer("in_flight", queue, nil, max(n, 0), nil, all >= b.mostRuns); err != nil {
				return err
			}
		}
	}
	return nil
}

// aside looks at messages of paused topics: a run of theirs has one topic.
func (b *backlog) aside(most int) error {
	type place struct {
		topic string
		lane  int64
	}
	var places []place
	err := b.t.query("metrics/topics_aside", func(r engine.Row) error {
		var p place
		err := r.Scan(&p.topic, &p.lane)
		places = append(places, p)
		return err
	}, most)
	if err != nil {
		return err
	}
	for _, p := range places {
		err := b.t.query("metrics/aside", func(r engine.Row) error {
			var queue string
			var n, runs, at int64
			if err := r.Scan(&queue, &n, &runs, &at); err != nil {
				return err
			}
			return b.answer("paused", queue, p.topic, n, b.t.now-at, runs >= b.runs)
		}, p.lane, b.runs)
		if err != nil {
			return err
		}
	}
	return nil
}

// failed looks at messages that failed for good.
func (b *backlog) failed() error {
	var all []row
	var total int64
	err := b.t.query("metrics/failed", func(r engine.Row) error {
		var queue, topic string
		var n int64
		err := r.Scan(&queue, &topic, &n)
		total += n
		all = append(all, row{"failed", queue, topic, n, nil})
		return err
	}, b.mostMessages)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := b.answer("failed", r[1].(string), r[2], r[3].(int64), nil, total >= b.mostMessages); err != nil {
			return err
		}
	}
	return nil
}
