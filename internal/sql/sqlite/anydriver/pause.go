package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type (
	pauseEndQueue byKind
	pauseEndTopic byKind
)

// pauseUnparkGone removes those of the next runs that have lost all their messages.
type pauseUnparkGone struct {
	engine.Changes
	Topic string
	Most  int
}

type pauseForget struct {
	engine.Changes
	Name string
}

// pauseLane reads where messages of a topic are parked, if it is paused.
type pauseLane struct {
	engine.Rows[orphan]
	Name string
}

func endPause(t *txn, o op.PauseEnd) (total int64, err error) {
	for _, end := range []engine.Operation{pauseEndTopic{Kind: o.Kind, Name: o.Name}, pauseEndQueue{Kind: o.Kind, Name: o.Name}} {
		n, err := t.change(end)
		if err != nil {
			return 0, err
		}
		total += n
	}
	t.woke = true
	return total, t.audit(o.Note, "resume", total)
}

func unpark(t *txn, o op.PauseUnpark) (int64, error) {
	for {
		gone, err := t.change(pauseUnparkGone{Topic: o.Topic, Most: o.Most})
		if err != nil {
			return 0, err
		}
		if gone == 0 {
			break
		}
	}
	n, err := t.change(o)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		if err := t.do(pauseForget{Name: o.Topic}); err != nil {
			return 0, err
		}
	}
	t.woke = true
	return n, nil
}

// parkPaused parks messages of paused topics. Those of other topics go back to where they
// were.
func parkPaused(t *txn, o op.OutboxPark) (int64, error) {
	lanes := map[string]*int64{}
	return settle(t, o.Runs, func(p *op.Parked, taken []run) error {
		lane, known := lanes[p.Topic]
		if !known {
			aside, paused, err := one(t, pauseLane{Name: p.Topic})
			if err != nil {
				return err
			}
			if paused {
				lane = &aside.Lane
			}
			lanes[p.Topic] = lane
		}
		for _, r := range taken {
			if lane != nil {
				r.Lane = *lane
			}
			if err := toReady(t, r); err != nil {
				return err
			}
		}
		return nil
	})
}
