package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func settlements() []engine.Operation {
	return []engine.Operation{OutboxAbandon{}, OutboxAck{}, OutboxExtend{}, OutboxFail{}, OutboxPark{}, OutboxRelease{}}
}

// Held is consecutive messages that somebody has claimed. What is not, or not any more,
// under this owner's lease is left alone by every operation on it.
type Held struct {
	Owner [16]byte
	Lo    int64
	N     int
}

// Run is what is held.
func (h Held) Run() Held { return h }

// Span is consecutive messages.
type Span struct {
	Lo int64
	N  int
}

// OutboxAck marks messages as handled, counts them in their joins, and answers how many
// it was.
type OutboxAck struct {
	engine.Number
	Runs   []Held
	Worker string
	Failed []Span // that this transaction failed without counting them in joins
}

// Abandoned is messages that are to be tried again.
type Abandoned struct {
	Held
	Delay *time.Duration // nil: the usual backoff
	Error *string
}

// OutboxAbandon puts messages back for another attempt and answers how many it was.
type OutboxAbandon struct {
	engine.Number
	Runs []Abandoned
}

// Failure is messages that failed for good.
type Failure struct {
	Held
	Error *string
}

// OutboxFail marks messages as failed for good and answers how many it was.
type OutboxFail struct {
	engine.Number
	Runs  []Failure
	Count bool // in joins; else an ack of this transaction does
}

// Released is messages that are put back.
type Released struct {
	Held
	Delay   time.Duration
	Unbegun bool // nobody began them: suspects stay so
}

// OutboxRelease puts messages back without counting an attempt and answers how many it
// was.
type OutboxRelease struct {
	engine.Number
	Runs []Released
}

// OutboxExtend makes the lease of messages last for another one from now and answers
// how many it was.
type OutboxExtend struct {
	engine.Number
	Runs  []Held
	Lease time.Duration
}

// Parked is messages of a topic that is paused.
type Parked struct {
	Held
	Topic string
}

// OutboxPark lays messages aside whose topic is paused, puts those of others back where
// they were, and answers how many it was.
type OutboxPark struct {
	engine.Number
	Runs []Parked
}
