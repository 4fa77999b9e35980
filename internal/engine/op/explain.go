package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func explain() []engine.Operation {
	return []engine.Operation{ExplainAhead{}, ExplainPlace{}, ExplainWaits{}}
}

// ExplainAhead counts what is claimed before a message that is due. One row.
type ExplainAhead struct {
	engine.Rows[ExplainLine]
	ID   int64 // the message's position
	Look int   // how many runs are looked at, about
}

// ExplainLine is what stands in line before a message.
type ExplainLine struct {
	N      int64      // messages
	Oldest *time.Time // since when the first of them is due
	More   bool       // there may be more than N
}

// ExplainPlace asks where a message lies. One row, or none.
type ExplainPlace struct {
	engine.Rows[ExplainPosition]
	ID int64 // the message's position
}

// ExplainPosition is where a message lies, and what the outbox does not tell of it.
type ExplainPosition struct {
	At            *time.Time // it can be claimed from then on; nil: it does not wait
	Aside         bool       // it is laid aside, as of a paused topic
	NextAttemptAt *time.Time // as its last failed attempt said
	UpdatedAt     *time.Time // when that was
	JoinID        *[16]byte  // whose wait it is
	Suspect       int64      // above 0: with how many others it may be claimed, as a suspect
}

// ExplainWaits lists a join's waits by position.
type ExplainWaits struct {
	engine.Rows[ExplainWait]
	Join [16]byte
	Most int
}

// ExplainWait is a join's wait.
type ExplainWait struct{ ID int64 }
