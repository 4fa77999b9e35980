package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Held is consecutive messages that an owner has claimed. Operations ignore those that are
// not, or no longer, under this owner's lease.
type Held struct {
	Owner [16]byte
	Lo    int64
	N     int
}

// Run returns h.
func (h Held) Run() Held { return h }

// Span is consecutive messages.
type Span struct {
	Lo int64
	N  int
}

// OutboxAck marks messages as handled, counts them in their joins, and returns how many
// there were. The next messages with their ordering keys may be claimed.
type OutboxAck struct {
	engine.Number `call:"outbox_ack_runs"`
	Runs          []Held
	Worker        string `text:"any"`
	Failed        []Span // that this transaction failed without counting them in joins
}

// OutboxAckOne marks a message as handled and stores its result, if there is one; no row: its owner does
// not hold it.
type OutboxAckOne struct {
	engine.Changes
	Owner  [16]byte
	ID     int64
	Worker string `text:"any"`
	Result []byte
}

// Reported is an error, and what it has in common with others of its kind; nil: unknown.
type Reported struct {
	Error       *string `text:"any"`
	Fingerprint *string `text:"any"`
}

// Abandoned is messages that are to be tried again.
type Abandoned struct {
	Held
	Reported
	Delay *time.Duration // nil: the usual backoff
	Yield bool           // the next with their ordering keys may be claimed meanwhile
	// Uncounted means that the attempt does not count, and is not kept among the failed ones.
	Uncounted bool
}

// OutboxAbandon puts messages back for another attempt and returns how many there were.
type OutboxAbandon struct {
	engine.Number `call:"outbox_abandon_runs"`
	Runs          []Abandoned
	Worker        string `text:"any"`
	Keep          int    // how many failed attempts of a message are kept, at least 1
}

// Failure is messages that failed for good.
type Failure struct {
	Held
	Reported
	Expired   bool // they ended before an attempt began: their state is another one
	Cancelled bool // they were stopped: they count as discarded
	Hold      bool // those behind them with their ordering keys go on waiting
}

// OutboxFail marks messages as failed for good, as expired, or as discarded, and returns how many there were.
type OutboxFail struct {
	engine.Number
	Runs   []Failure
	Worker string `text:"any"`
	Keep   int    // how many failed attempts of a message are kept, at least 1
	Count  bool   // count them in joins; otherwise an ack of this transaction does
}

// Released is messages that are put back.
type Released struct {
	Held
	Delay   time.Duration
	Unbegun bool // their handlers did not start: suspects stay suspects
}

// OutboxRelease puts messages back without counting an attempt and returns how many there
// were.
type OutboxRelease struct {
	engine.Number `call:"outbox_release_runs"`
	Runs          []Released
}

// OutboxExtend extends the lease of messages, from now, and returns how many there were.
type OutboxExtend struct {
	engine.Number `call:"outbox_extend_runs"`
	Runs          []Held
	Lease         time.Duration
}

// Parked is messages of a topic that is paused.
type Parked struct {
	Held
	Topic string
}

// OutboxPark parks messages whose topic is paused, puts those of other topics back where
// they were, and returns how many there were.
type OutboxPark struct {
	engine.Number `call:"outbox_park_runs"`
	Runs          []Parked
}
