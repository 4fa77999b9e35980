package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// NewMessage is a message to be written.
type NewMessage struct {
	ID            int64 // its position
	MessageID     [16]byte
	Topic         string
	CorrelationID *string
	Headers       *string
	Payload       []byte
	Lane          int64
	DueAt         *time.Time // nil: now
	Supplied      bool       // its id was not made by pawl for this position, and is indexed
	Carried       int64      // the position that an id made by pawl carries, or 0
}

// NewRun is consecutive messages that are due at once.
type NewRun struct {
	Lane int64
	At   *time.Time // nil: now
	Lo   int64
	N    int
}

// OutboxEnqueue writes messages with ids that pawl made, and their runs. The commit notifies
// workers of the queues.
type OutboxEnqueue struct {
	engine.Changes
	Messages []NewMessage
	Queues   []string
	Runs     []NewRun
}

// OutboxEnqueueOnce writes messages of which some have an id of the caller's, except those
// that are stored already. It changes as many rows as there are new messages.
type OutboxEnqueueOnce struct {
	engine.Changes
	Messages []NewMessage
	Queues   []string
}

// OutboxEnqueueUnique writes messages with unique keys, one after the other, unless an earlier
// message with the key takes the place of one. It returns a row for each of those, and for each
// that is stored already. It can run in a caller's transaction that can query.
type OutboxEnqueueUnique struct {
	engine.Rows[OutboxEarlier]
	Messages []NewMessage
	Keys     []NewKey // of the messages, in their order
	Queues   []string
}

// NewKey is the unique key of a message to be written.
type NewKey struct {
	Nr       int   // its index
	ID       int64 // the message's position
	Key      string
	Unbegun  bool  // an earlier message that runs does not count
	Period   int64 // if positive, one counts that was enqueued less than these microseconds ago
	Replace  bool  // the earlier message is cancelled if it waits
	Debounce bool  // it becomes due when this one is, or this one at its own time
}

// OutboxEarlier is the message that took the place of one, or one that is stored already.
type OutboxEarlier struct {
	ID        int64    // the position of the message to be written
	MessageID [16]byte // of the earlier one
}

// OutboxEnqueueClaimed writes a message that is due now and has an id that pawl made, claimed by
// a worker loop from the start. It returns a row; in a paused queue the message becomes ready
// instead, and there is none. The commit notifies nobody.
type OutboxEnqueueClaimed struct {
	engine.Rows[OutboxCreated]
	NewMessage
	Queue string
	Owner [16]byte
	Lease time.Duration
}

// OutboxCreated is when a message was written.
type OutboxCreated struct{ CreatedAt time.Time }

// OutboxMessage is a message.
type OutboxMessage struct {
	ID            int64
	MessageID     [16]byte
	Topic         string
	CorrelationID *string
	Headers       *string
	Payload       []byte
	CreatedAt     time.Time
	DueAt         *time.Time
	RetryCount    int
	Queue         string
	Priority      int64
}

// OutboxClaimed is a message that was claimed.
type OutboxClaimed struct {
	OutboxMessage
	LockedUntil time.Time
}

// OutboxClaim is the claim of a worker loop: due messages of a queue, none of a paused one,
// oldest first. A loop claims again at once when it got as many as it asked for: an engine
// may leave older messages for one of the next claims.
//
// With Wait the lane whose oldest message has been due for longer than that goes first, the
// oldest one if there are several, and the others follow by priority.
//
// Messages of a topic whose limit has no room are moved to a lane of their own, so that others are
// found behind them. An engine may move those that it has room for, too. All of topic Apart that a
// claim meets are moved, and get half of the claim.
//
// Before it claims, it puts messages with ordering keys in order: of each key one may be claimed.
type OutboxClaim struct {
	engine.Rows[OutboxClaimed]
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
	Wait  *time.Duration // nil: priority alone decides
	Freed bool           // older messages than those claimed last may have become ready
	All   bool           // a claim of fewer than Most leaves none that is due, but those that others hold
	Apart *string        // a topic that fills the handlers; nil: none
}

// OutboxClaimAny claims due messages of a queue, none of a paused one: suspects or, where
// there are none, others, always beginning with the oldest.
type OutboxClaimAny struct {
	engine.Rows[OutboxClaimed]
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// OutboxClaimSuspects claims due suspects of a queue, none of a paused one, and no more than
// any of them may be claimed with.
type OutboxClaimSuspects OutboxClaimAny

// OutboxSuspects returns 1 if suspects of a queue are due and it is not paused, or 0.
type OutboxSuspects struct {
	engine.Number
	Queue string
}

// OutboxReap puts back runs whose lease has expired, and returns how many messages they
// have.
type OutboxReap struct {
	engine.Number `call:"outbox_reap_runs"`
	Most          int  // runs
	Keep          int  // how many failed attempts of a message are kept, at least 1
	All           bool // 0 means that no lease has expired; otherwise some may be left to the next calls
}

// OutboxNextDue returns when the next run of a queue is due that is no suspect; never for a
// paused queue.
type OutboxNextDue struct {
	engine.Rows[Wait]
	Queue string
}

// OutboxWaiting counts messages of a queue that are due and not claimed, up to a bound: one row.
type OutboxWaiting struct {
	engine.Rows[Waiting]
	Queue string
	Most  int64
}

// Waiting is how many messages wait.
type Waiting struct{ N int64 }

// Wait is the time until something is due: microseconds, nil for never.
type Wait struct{ Micros *int64 }

// OutboxLane registers a queue at a priority.
type OutboxLane struct {
	engine.Changes `call:"outbox_lane_put"`
	ID             int64
	Queue          string
	Priority       int
	Kind           int // an engine.LaneKind
}

// OutboxLanes reads the registered lanes.
type OutboxLanes struct{ engine.Rows[Lane] }

// Lane is a queue at a priority.
type Lane struct {
	ID       int64
	Queue    string
	Priority int
}

// OutboxAdopt registers lanes that have runs and are not registered, as far as they are of
// queues that are given, registered or worked on. It returns how many.
type OutboxAdopt struct {
	engine.Number
	Queues []string
}

// OutboxPurge deletes messages done, discarded or expired longer ago than an age that no
// pending join needs, after their outcomes as runs of jobs were recorded. It returns how many.
type OutboxPurge struct {
	engine.Number
	Age  time.Duration
	Look int // how many of the lowest runs are examined; PostgreSQL examines more
}
