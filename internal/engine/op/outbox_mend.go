package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func outboxMends() []engine.Operation {
	return []engine.Operation{OutboxCancel{}, OutboxCountDead{}, OutboxDiscard{}, OutboxRedrive{}, OutboxReschedule{}}
}

// DeadFilter is which failed messages are meant: those that meet all of it, nil is any,
// oldest first.
type DeadFilter struct {
	IDs    []int64
	Topic  *string
	Queue  *string
	Error  *string    // part of the last one
	Since  *time.Time // failed since then
	Before *time.Time // and before
	After  int64      // only positions above this one
	Look   int        // at how many
	Most   int64
}

// Dead is how many failed messages a filter chose, and above which position to go on,
// nil at the end.
type Dead struct {
	N    int64
	Last *int64
}

// OutboxCountDead counts failed messages.
type OutboxCountDead struct {
	engine.Rows[Dead]
	DeadFilter
}

// OutboxRedrive gives failed messages a fresh start.
type OutboxRedrive struct {
	engine.Rows[Dead]
	DeadFilter
	Note Note
}

// OutboxDiscard gives failed messages up.
type OutboxDiscard struct {
	engine.Rows[Dead]
	DeadFilter
	Note Note
}

// OutboxCancel takes messages back that nobody has claimed, and answers how many.
type OutboxCancel struct {
	engine.Number
	IDs    []int64
	Reason string
	Note   Note
}

// OutboxReschedule makes messages due at another time that nobody has claimed, and
// answers how many.
type OutboxReschedule struct {
	engine.Number
	IDs  []int64
	Due  *time.Time // nil: now
	Note Note
}
