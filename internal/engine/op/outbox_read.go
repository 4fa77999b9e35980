package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func outboxReads() []engine.Operation {
	return []engine.Operation{
		OutboxCounts{}, OutboxFind{}, OutboxGet{}, OutboxListClaimed{}, OutboxListClaimedFloor{}, OutboxListDead{}, OutboxListDeadFloor{},
		OutboxListReady{}, OutboxListReadyFloor{}, OutboxListRecent{}, OutboxListRecentFloor{},
	}
}

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

// OutboxGet reads the message at a position.
type OutboxGet struct {
	engine.Rows[OutboxItem]
	ID int64
}

// OutboxFind reads the message that brought an id.
type OutboxFind struct {
	engine.Rows[OutboxItem]
	MessageID [16]byte
}

// OutboxFilter is which messages a list has: those that meet all of it, nil is any, from
// the highest position down.
type OutboxFilter struct {
	Before        int64 // only positions below this one
	Floor         int64 // and not below this one
	Most          int
	Topic         *string
	Queue         *string
	CorrelationID *string
	Error         *string        // part of the last one
	OlderThan     *time.Duration // created longer ago
	NewerThan     *time.Duration // created no longer ago
	Headers       *string        // a JSON object of those that they have, among others
}

// OutboxFloor is the position that a list which looks at so many messages ends with; no
// row if there are no more.
type OutboxFloor struct{ Floor int64 }

// OutboxListRecent lists messages, all or those of a status.
type OutboxListRecent struct {
	engine.Rows[OutboxItem]
	OutboxFilter
	Status *int
}

// OutboxListRecentFloor says where OutboxListRecent is to end.
type OutboxListRecentFloor struct {
	engine.Rows[OutboxFloor]
	Before int64
	Look   int
}

// OutboxListReady lists messages that wait to be claimed: due or scheduled ones. Its
// floor leaves no more than 10 000 runs.
type OutboxListReady struct {
	engine.Rows[OutboxItem]
	OutboxFilter
	Scheduled bool
}

// OutboxListReadyFloor says where OutboxListReady is to end, but for the run it is in the
// middle of.
type OutboxListReadyFloor struct {
	engine.Rows[OutboxFloor]
	Before int64
	Look   int
}

// OutboxListClaimed lists messages under lease. Its floor leaves no more than 10 000
// runs.
type OutboxListClaimed struct {
	engine.Rows[OutboxItem]
	OutboxFilter
}

// OutboxListClaimedFloor says where OutboxListClaimed is to end, but for the run it is in
// the middle of.
type OutboxListClaimedFloor struct {
	engine.Rows[OutboxFloor]
	Before int64
	Look   int
}

// OutboxListDead lists failed (3) or discarded (4) messages.
type OutboxListDead struct {
	engine.Rows[OutboxItem]
	OutboxFilter
	Status int
}

// OutboxListDeadFloor says where OutboxListDead is to end.
type OutboxListDeadFloor struct {
	engine.Rows[OutboxFloor]
	Before int64
	Look   int
	Status int
}

// OutboxCounts reads how many messages are in which state: sums over runs, never over
// messages.
type OutboxCounts struct{ engine.Rows[OutboxSums] }

// OutboxSums is how many messages are in which state.
type OutboxSums struct{ Ready, Scheduled, Claimed, Done, Failed, Discarded int64 }
