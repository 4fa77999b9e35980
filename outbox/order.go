package outbox

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// OrderPolicy is what a message with an ordering key does to those behind it when an attempt
// fails.
type OrderPolicy = worker.OrderPolicy

// The policies of a topic.
const (
	// OrderBlock keeps them waiting until the message succeeds, fails for good, expires or is
	// cancelled.
	OrderBlock = worker.OrderBlock
	// OrderSkip lets the next one begin. When the backoff is over, the message comes before those
	// that wait then.
	OrderSkip = worker.OrderSkip
	// OrderHold is OrderBlock, and a message that fails for good keeps them waiting until an
	// operator redrives or discards it.
	OrderHold = worker.OrderHold
)

// orderingKey returns the message's, which another program may have put among the headers.
func (m *Message) orderingKey() string {
	if m.OrderingKey == "" {
		return m.Headers[ordering.Header]
	}
	return m.OrderingKey
}

func (m *Message) checkOrder() error {
	key := m.orderingKey()
	if err := engine.CheckText("ordering key", key, limits.OrderingKey, false); err != nil {
		return err
	}
	if key != "" && m.Priority != 0 {
		return engine.Invalid("priority", "not 0, with an ordering key")
	}
	return nil
}

// laneOf returns the lane to which a message is enqueued.
func laneOf(m *Message) (lane int64, kind engine.LaneKind) {
	if m.orderingKey() != "" {
		kind = engine.Ordered
	}
	return engine.LaneID(m.queue(), m.Priority, kind), kind
}
