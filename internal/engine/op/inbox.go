package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func inbox() []engine.Operation {
	return []engine.Operation{
		InboxDone{}, InboxExtend{}, InboxFail{}, InboxGet{}, InboxList{}, InboxListDead{}, InboxListProcessing{}, InboxListSource{}, InboxMark{},
		InboxPurge{}, InboxRelease{}, InboxRevive{}, InboxSee{}, InboxStuck{}, InboxTake{},
	}
}

// InboxKey is whose message it is, and the sender's id of it.
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

// InboxDone marks a message as done that was taken. It changes one row, or none: the
// message is no longer the caller's.
type InboxDone struct {
	engine.Changes
	InboxKey
	Token *[16]byte // nil: the transaction holds it, and the attempt counts now
}

// InboxExtend lengthens the lease of an attempt. It changes one row, or none: the
// message is no longer the caller's.
type InboxExtend struct {
	engine.Changes
	InboxKey
	Token [16]byte
	Lease time.Duration
}

// InboxFail puts a message back after an attempt that failed, or gives it up. It
// changes 0 rows if the message is not the caller's, 1 if it may be tried again, 2 if it
// is dead.
type InboxFail struct {
	engine.Changes
	InboxKey
	Hash        []byte    // nil: none
	Token       *[16]byte // nil: the attempt's transaction was rolled back
	Error       string
	Final       bool // whatever is left of the attempts
	MaxAttempts int  // 0: any number
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

// InboxListDead is InboxList of those that are dead, of which there is an index.
type InboxListDead struct {
	engine.Rows[InboxMessage]
	After InboxKey
	Most  int
}

// InboxListProcessing is InboxList of those that are being processed; the index knows
// how long they were not seen.
type InboxListProcessing struct {
	engine.Rows[InboxMessage]
	Idle  time.Duration
	After InboxKey
	Most  int
}

// InboxListSource is InboxList of a source, as far as the index goes.
type InboxListSource struct {
	engine.Rows[InboxMessage]
	Source string
	Status *string        // nil: any
	Idle   *time.Duration // not seen for so long; nil: any
	After  InboxKey
	Most   int
}

// InboxMark marks a message by hand as Processing, Done or Dead. It changes one row, or
// none: a message that is done or dead stays what it is.
type InboxMark struct {
	engine.Changes
	InboxKey
	Status string
}

// InboxPurge forgets messages that were done longer ago than an age.
type InboxPurge struct {
	engine.Changes
	Age  time.Duration
	Most int
}

// InboxRelease puts a message back whose attempt does not count.
type InboxRelease struct {
	engine.Changes
	InboxKey
	Token [16]byte
}

// InboxRevive gives a dead message a fresh start, and the queue's of it. It changes one
// row if it was dead.
type InboxRevive struct {
	engine.Changes
	InboxKey
	QueuedAs [16]byte // its id in the queue
	Note     Note
}

// InboxSee notes a delivery. A hash that was missing is filled in. It changes 0 rows if
// the message may be processed, 2 if it is done, 3 dead, 4 if it has another hash, 5 if
// somebody is at it.
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
