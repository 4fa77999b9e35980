package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// OutboxItem is a message with its state.
type OutboxItem struct {
	OutboxMessage
	LockedUntil   *time.Time
	Status        int64
	NextAttemptAt time.Time
	OwnerToken    *[16]byte
	ProcessedAt   *time.Time
	ProcessedBy   *string
	LastError     *string
	Redrives      int
}

// OutboxFound is a message with its state and its unique key; nil: it has none, or a later message
// took it.
type OutboxFound struct {
	OutboxItem
	UniqueKey   *string
	UniqueUntil *time.Time // the end of the key's period, if it has one
}

// OutboxAcked returns 1 if the message at a position was acked by an owner, and 0 if not.
type OutboxAcked struct {
	engine.Number
	engine.Bounded
	ID    int64
	Owner [16]byte
}

// OutboxGet reads the message at a position.
type OutboxGet struct {
	engine.Rows[OutboxFound]
	ID int64
}

// OutboxFind reads the message with an id of the caller's.
type OutboxFind struct {
	engine.Rows[OutboxFound]
	MessageID [16]byte
}

// OutboxOver reads whether a message has ended, and how.
type OutboxOver struct {
	engine.Rows[OutboxEnd]
	MessageID [16]byte
	ID        int64 // the position that the message's id carries
}

// OutboxEnd is how a message ended: it is done, or has the status of an exception from 3 up. Otherwise
// it has not ended.
type OutboxEnd struct {
	ID        int64
	Done      bool
	Status    int // 0: none
	LastError *string
	Result    []byte // nil or empty: none
}

// OutboxFilter selects the messages of a list: those that meet all of it, nil is any, from
// the highest position down.
type OutboxFilter struct {
	Before        int64 // only positions below this one
	Floor         int64 // and not below this one
	Most          int
	Topic         *string
	Flows         bool // topics that begin with "flow." alone
	Queue         *string
	CorrelationID *string
	Error         *string        // part of the last one
	OlderThan     *time.Duration // created longer ago
	NewerThan     *time.Duration // created no longer ago
	Headers       *string        // a JSON object: all of these are among their headers
	Bare          bool           // payloads are left out
	Fingerprint   *string        // of the last error
}

// OutboxFloor is the position at which a list that examines so many messages ends; no row if
// there are no more.
type OutboxFloor struct{ Floor int64 }

// OutboxListRecent lists messages, all or those of a status.
type OutboxListRecent struct {
	engine.Rows[OutboxItem]
	engine.Bounded
	OutboxFilter
	Status *int
}

// OutboxListRecentFloor returns where OutboxListRecent is to end.
type OutboxListRecentFloor struct {
	engine.Rows[OutboxFloor]
	engine.Bounded
	Before int64
	Look   int
}

// OutboxListReady lists messages that wait to be claimed: due ones, or those that are due later.
// Its floor is chosen to leave at most 10 000 runs.
type OutboxListReady struct {
	engine.Rows[OutboxItem]
	engine.Bounded
	OutboxFilter
	Later        bool       // those that are due later
	Retrying     bool       // of these those of which an attempt failed; false: the others
	FailedSince  *time.Time // the last attempt failed then or later
	FailedBefore *time.Time // it failed before that
}

// OutboxListReadyFloor returns where OutboxListReady is to end, except within the run that
// it has begun.
type OutboxListReadyFloor OutboxListRecentFloor

// OutboxListClaimed lists messages under lease. Its floor is chosen to leave at most 10 000
// runs.
type OutboxListClaimed struct {
	engine.Rows[OutboxItem]
	engine.Bounded
	OutboxFilter
}

// OutboxListClaimedFloor returns where OutboxListClaimed is to end, except within the run
// that it has begun.
type OutboxListClaimedFloor OutboxListRecentFloor

// OutboxListDead lists failed (3), discarded (4) or expired (5) messages.
type OutboxListDead struct {
	engine.Rows[OutboxItem]
	engine.Bounded
	OutboxFilter
	Status int
}

// OutboxListDeadFloor returns where OutboxListDead is to end.
type OutboxListDeadFloor struct {
	engine.Rows[OutboxFloor]
	engine.Bounded
	Before int64
	Look   int
	Status int
}

// OutboxFailures groups the failed messages within a range of positions by topic and fingerprint.
type OutboxFailures struct {
	engine.Rows[OutboxFailure]
	engine.Bounded
	Below, Floor                     int64 // below one position, and not below the other
	Topic, Queue, Error, Fingerprint *string
	Since, Before                    *time.Time
}

// OutboxFailure is messages of a topic that failed in the same way.
type OutboxFailure struct {
	Topic           string
	Fingerprint     *string
	N               int64
	FirstAt, LastAt time.Time
	ID              int64   // the highest position among them
	Error           *string // of that one
}

// OutboxCounts reads how many messages are in each state: sums over runs, never over
// messages.
type OutboxCounts struct{ engine.Rows[OutboxSums] }

// OutboxSums is how many messages are in each state.
type OutboxSums struct{ Ready, Scheduled, Retrying, Claimed, Done, Failed, Discarded, Expired int64 }

// OutboxAttempts reads the failed attempts of a message that are kept, oldest first.
type OutboxAttempts struct {
	engine.Rows[OutboxAttempt]
	ID int64
}

// OutboxAttempt is an attempt that failed.
type OutboxAttempt struct {
	Attempt int
	EndedAt time.Time
	Worker  *string
	Error   *string
}
