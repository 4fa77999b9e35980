package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// DeadFilter selects failed messages: those that meet all of it, nil is any, oldest first.
type DeadFilter struct {
	IDs    []int64
	Topic  *string
	Queue  *string
	Error  *string    // part of the last one
	Since  *time.Time // failed since then
	Before *time.Time // and before
	After  int64      // only positions above this one
	Look   int        // how many are examined
	Most   int64
	// Fingerprint is that of the last error.
	Fingerprint *string
	// Discarded, if positive, selects what was discarded no longer ago instead, once it had failed, and
	// Act what was by one act.
	Discarded time.Duration
	Act       *[16]byte
}

// Dead is how many failed messages a filter selected, how many of them are failed steps of failed
// joins, and the position to continue after, nil at the end.
type Dead struct {
	N     int64
	Last  *int64
	Ended int64
}

// OutboxCountDead counts failed messages.
type OutboxCountDead struct {
	engine.Rows[Dead]
	DeadFilter
}

// OutboxRedrive makes failed messages ready again, with all attempts left.
type OutboxRedrive struct {
	engine.Rows[Dead]
	DeadFilter
	Note Note
}

// OutboxDiscard marks failed messages as discarded.
type OutboxDiscard OutboxRedrive

// OutboxUndiscard makes messages failed again that were discarded.
type OutboxUndiscard OutboxRedrive

// OutboxCancel cancels messages that are not claimed, and returns how many.
type OutboxCancel struct {
	engine.Number `call:"act_cancel"`
	IDs           []int64
	Reason        string `text:"any"`
	Note          Note
}

// OutboxStop is OutboxCancel, and asks for the end of messages that are claimed. It returns how many there are
// of both.
type OutboxStop struct {
	engine.Number `call:"act_stop"`
	IDs           []int64
	Reason        string `text:"any"`
	Note          Note
}

// OutboxStopping reads what is to be stopped: workers do so often, and nearly always there is nothing.
type OutboxStopping struct {
	engine.Rows[Stopping]
	engine.Bounded
}

// Stopping is a message that is to be stopped.
type Stopping struct {
	ID      int64
	Owner   *[16]byte // whose attempt is to end; nil: anybody's, and the message is cancelled
	Reason  string
	Claimed bool
}

// OutboxStopEnd ends what asks for the end of messages that are not claimed any more: those that wait
// again are cancelled. It returns how many it ended.
type OutboxStopEnd struct {
	engine.Number
	IDs []int64
}

// OutboxErase erases what messages say that are not claimed, and returns how many.
type OutboxErase struct {
	engine.Number `call:"act_erase"`
	IDs           []int64
	Reason        string `text:"any"`
	Note          Note
}

// OutboxReschedule changes the due time of messages that are not claimed, and returns how
// many.
type OutboxReschedule struct {
	engine.Number
	IDs  []int64
	Due  *time.Time // nil: now
	Note Note
}

// OutboxRetopic gives messages that wait or have failed another topic and, unless it is nil, another
// lane to be enqueued to: that is for messages without ordering keys. It returns how many.
type OutboxRetopic struct {
	engine.Number `call:"act_retopic"`
	IDs           []int64
	Topic         string
	Lane          *int64
	Note          Note
}
