package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// ExplainAhead counts what will be claimed before a message that is due. One row.
type ExplainAhead struct {
	engine.Rows[ExplainLine]
	ID   int64 // the message's position
	Look int   // about how many runs are examined
}

// ExplainLine is what is before a message in its lane.
type ExplainLine struct {
	N      int64      // messages
	Oldest *time.Time // since when the first of them is due
	More   bool       // there may be more than N
}

// ExplainPlace reads where a message is. One row, or none.
type ExplainPlace struct {
	engine.Rows[ExplainPosition]
	ID int64 // the message's position
}

// ExplainPosition is where a message is, and what the outbox's operations do not return.
type ExplainPosition struct {
	At            *time.Time // when it can be claimed; nil: it is not ready
	Aside         bool       // it is parked, as of a paused topic
	NextAttemptAt *time.Time // set by its last failed attempt
	UpdatedAt     *time.Time // when that was
	JoinID        *[16]byte  // of which it is a wait
	Awaits        *string    // the signal for which it was parked, "" for a time alone
	Suspect       int64      // above 0: with how many others it may be claimed, as a suspect
	Behind        *[16]byte  // the message that goes first of those with its ordering key
}

// ExplainWaits lists a join's waits that were not replaced, by position.
type ExplainWaits struct {
	engine.Rows[ExplainWait]
	Join [16]byte
	Most int
}

// ExplainWait is a join's wait.
type ExplainWait struct{ ID int64 }
