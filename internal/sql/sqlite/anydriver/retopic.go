package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type (
	// outboxRetopicOne gives a message another topic and, unless it is nil, another lane.
	outboxRetopicOne struct {
		engine.Changes
		ID    int64
		Topic string
		Lane  *int64
	}
	// outboxRetopicFailed does so if the message has failed.
	outboxRetopicFailed outboxRetopicOne
	// outboxRetopicLane reads the lane in which a message waits that was taken out of Lane.
	outboxRetopicLane struct {
		engine.Rows[orphan]
		ID, Lane int64
		To       *int64
	}
)

// retopic gives messages that wait or have failed another topic or lane, and returns how many.
func retopic(t *txn, o op.OutboxRetopic) (int64, error) {
	taken, err := withdraw(t, o.IDs, false)
	if err != nil {
		return 0, err
	}
	n := int64(len(taken))
	for _, r := range taken {
		if err := t.do(outboxRetopicOne{ID: r.Lo, Topic: o.Topic, Lane: o.Lane}); err != nil {
			return 0, err
		}
		lane, _, err := one(t, outboxRetopicLane{ID: r.Lo, Lane: r.Lane, To: o.Lane})
		if err != nil {
			return 0, err
		}
		r.Lane = lane.Lane
		if err := toReady(t, r); err != nil {
			return 0, err
		}
	}
	for _, id := range o.IDs {
		failed, err := t.change(outboxRetopicFailed{ID: id, Topic: o.Topic, Lane: o.Lane})
		if err != nil {
			return 0, err
		}
		n += failed
	}
	t.woke = true
	return n, t.audit(o.Note, "retopic", n)
}
