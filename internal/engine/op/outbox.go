package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func outboxes() []engine.Operation {
	return []engine.Operation{
		OutboxAdopt{}, OutboxClaim{}, OutboxClaimAny{}, OutboxClaimSuspects{}, OutboxEnqueue{}, OutboxEnqueueOnce{}, OutboxLane{}, OutboxLanes{},
		OutboxNextDue{}, OutboxPurge{}, OutboxReap{}, OutboxSuspects{},
	}
}

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
	Supplied      bool       // its id is not made by pawl for this position, and is to be indexed
	Carried       int64      // the position that an id made by pawl carries, or 0
}

// NewRun is messages that follow each other and are due at once.
type NewRun struct {
	Lane int64
	At   *time.Time // nil: now
	Lo   int64
	N    int
}

// OutboxEnqueue writes messages with ids that pawl made, and the runs they form. Workers
// of the queues are woken by the commit.
type OutboxEnqueue struct {
	engine.Changes
	Messages []NewMessage
	Queues   []string
	Runs     []NewRun
}

// OutboxEnqueueOnce writes messages of which some bring an id of their own, but for
// those that are known. It changes as many rows as there are new messages.
type OutboxEnqueueOnce struct {
	engine.Changes
	Messages []NewMessage
	Queues   []string
}

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

// OutboxClaim is the claim of a worker loop: due messages of a queue, nothing of a
// paused one, oldest first. A loop claims again at once when it got as many as it
// asked for: an engine may leave older messages to one of its next claims.
type OutboxClaim struct {
	engine.Rows[OutboxClaimed]
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// OutboxClaimAny claims due messages of a queue, nothing of a paused one: suspects or,
// where there are none, others, always beginning with the oldest.
type OutboxClaimAny struct {
	engine.Rows[OutboxClaimed]
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// OutboxClaimSuspects claims due suspects of a queue, nothing of a paused one, and no
// more than any of them may be claimed with.
type OutboxClaimSuspects struct {
	engine.Rows[OutboxClaimed]
	Queue string
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// OutboxSuspects answers 1 if suspects of a queue are due and it is not paused, or 0.
type OutboxSuspects struct {
	engine.Number
	Queue string
}

// OutboxReap puts runs back whose lease has run out, and answers how many messages
// they had.
type OutboxReap struct {
	engine.Number
	Most int // runs
}

// OutboxNextDue answers how long it is until the next run of a queue is due that is no
// suspect; nothing of a paused queue is.
type OutboxNextDue struct {
	engine.Rows[Wait]
	Queue string
}

// Wait is how long it is until something is due: microseconds, nil for never.
type Wait struct{ Micros *int64 }

// OutboxLane makes a queue at a priority known.
type OutboxLane struct {
	engine.Changes
	ID       int64
	Queue    string
	Priority int
}

// OutboxLanes reads the known lanes.
type OutboxLanes struct{ engine.Rows[Lane] }

// Lane is a queue at a priority.
type Lane struct {
	ID       int64
	Queue    string
	Priority int
}

// OutboxAdopt makes lanes known that runs lie in and nobody knows, as far as they are
// of queues that are given, known or worked on. It answers how many.
type OutboxAdopt struct {
	engine.Number
	Queues []string
}

// OutboxPurge forgets messages done or discarded longer ago than an age that no pending
// join needs, after what became of them as runs of jobs was written down. It
// answers how many.
type OutboxPurge struct {
	engine.Number
	Age  time.Duration
	Look int // at how many of the lowest runs
}
