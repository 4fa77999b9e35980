package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// InboxKey identifies a message: its source and the sender's id of it.
type InboxKey struct {
	Source    string
	MessageID string
}

// InboxMessage is a message as it is stored.
type InboxMessage struct {
	InboxKey
	Hash           []byte
	FirstSeenUTC   time.Time
	LastSeenUTC    time.Time
	ProcessedUTC   *time.Time
	Deliveries     int64
	Attempts       int
	Mismatches     int
	Status         string
	LastError      *string
	LockedUntilUTC *time.Time
}

// InboxDone marks a taken message as done. It changes one row, or none: the caller no longer
// holds it.
type InboxDone struct {
	engine.Changes
	InboxKey
	Token *[16]byte // nil: the transaction holds it, and the attempt counts now
}

// InboxExtend extends the lease of an attempt. It changes one row, or none: the caller no
// longer holds the message.
type InboxExtend struct {
	engine.Changes
	InboxKey
	Token [16]byte
	Lease time.Duration
}

// InboxFail puts a message back after a failed attempt, or ends it. It changes 0 rows if the
// caller does not hold the message, 1 if it may be tried again, 2 if it is dead.
type InboxFail struct {
	engine.Changes `call:"inbox_fail_row"`
	InboxKey
	Hash        []byte    // nil: none
	Token       *[16]byte // nil: the attempt's transaction was rolled back
	Error       string    `text:"any"`
	Final       bool      // even if attempts are left
	MaxAttempts int       // 0: any number
}

// InboxGet reads a message. One row, or none.
type InboxGet struct {
	engine.Rows[InboxMessage]
	InboxKey
}

// InboxList reads messages by source and id.
type InboxList struct {
	engine.Rows[InboxMessage]
	Status *string        // nil: any
	Idle   *time.Duration // not seen for so long; nil: any
	After  InboxKey       // only sources and ids above this
	Most   int
}

// InboxListDead is InboxList for dead messages, which have an index.
type InboxListDead struct {
	engine.Rows[InboxMessage]
	After InboxKey
	Most  int
}

// InboxListProcessing is InboxList for messages that are being processed; the index has
// when they were last seen.
type InboxListProcessing struct {
	engine.Rows[InboxMessage]
	Idle  time.Duration
	After InboxKey
	Most  int
}

// InboxListSource is InboxList for a source, whose index it uses.
type InboxListSource struct {
	engine.Rows[InboxMessage]
	Source string
	Status *string        // nil: any
	Idle   *time.Duration // not seen for so long; nil: any
	After  InboxKey
	Most   int
}

// InboxMark marks a message by hand as Processing, Done or Dead. It changes one row, or
// none: a message that is done or dead stays so.
type InboxMark struct {
	engine.Changes
	InboxKey
	Status string
}

// InboxPurge deletes messages that were done longer ago than an age.
type InboxPurge struct {
	engine.Changes
	engine.Bounded
	Age  time.Duration
	Most int
}

// InboxRelease puts a message back whose attempt does not count.
type InboxRelease struct {
	engine.Changes
	InboxKey
	Token [16]byte
}

// InboxRevive resets a dead message and its queued message for new attempts. It changes one
// row if it was dead.
type InboxRevive struct {
	engine.Changes `call:"act_revive"`
	InboxKey
	QueuedAs [16]byte // its id in the queue
	Note     Note
}

// InboxSee records a delivery. A missing hash is filled in. It changes 0 rows if the message
// may be processed, 2 if it is done, 3 dead, 4 if it has another hash, 5 if it is being
// processed.
type InboxSee struct {
	engine.Changes
	InboxKey
	Hash []byte // nil: none
}

// InboxStuck reads messages that are being processed, were not heard of for an age and are
// not held by a lease, those first that were not heard of for longest.
type InboxStuck struct {
	engine.Rows[InboxMessage]
	Age  time.Duration
	Most int
}

// InboxTake takes a message to process it. It changes 1 row if it is the caller's now,
// and otherwise as many as InboxSee.
type InboxTake struct {
	engine.Changes
	InboxKey
	Hash        []byte // nil: none
	Token       *[16]byte
	Lease       *time.Duration // nil: the transaction holds it
	MaxAttempts int            // 0: any number
	Resumes     bool           // an attempt that did not end is the same as this one
}

// InboxTakeDone takes a message and marks it as done, in a transaction that is rolled back
// unless the message is handled. It changes as many rows as InboxTake.
type InboxTakeDone struct {
	engine.Changes
	InboxKey
	Hash []byte // nil: none
}
