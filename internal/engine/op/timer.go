package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Timer is a timer as it is stored.
type Timer struct {
	ID            int64 // the position of the message that it becomes
	TimerID       [16]byte
	Key           *string
	Status        int
	DueTime       time.Time
	At            time.Time // when it may be taken: DueTime or, after a failed attempt, later
	RetryCount    int
	Owner         *[16]byte
	LockedUntil   *time.Time
	Topic         string
	CorrelationID *string
	Headers       *string
	Payload       []byte
	CreatedAt     time.Time
	ProcessedAt   *time.Time // when it fired, was cancelled or failed
	LastError     *string
	Queue         string
	Priority      int
}

// NewTimer is a timer to be stored: the message that it becomes, and its key.
type NewTimer struct {
	NewMessage
	Key *string
}

// TimerRef identifies a timer by its id and the position that the id carries, or 0.
type TimerRef struct {
	TimerID [16]byte
	Carried int64
}

// TimerHeld are timers that an owner may have claimed.
type TimerHeld struct {
	Owner    [16]byte
	TimerIDs [][16]byte
}

// TimerPage is a part of a list of timers: those after a time and a position.
type TimerPage struct {
	At    time.Time
	ID    int64
	Topic *string // nil: any
	Most  int
}

// TimerAbandon puts claimed timers back for another attempt, and counts this one as failed.
// It returns how many the owner held.
type TimerAbandon struct {
	engine.Number `call:"timer_abandon_rows"`
	TimerHeld
	Delay *time.Duration // nil: backoff
	Error *string        `text:"any"`
}

// TimerAck marks claimed timers as fired. It returns how many the owner held.
type TimerAck struct {
	engine.Number
	TimerHeld
}

// TimerCancel cancels a pending timer. It changes one row, and the timer will never fire,
// or none: it is not pending.
type TimerCancel struct {
	engine.Changes
	TimerRef
	Note Note
}

// TimerCancelKey cancels the pending timer of a key. It changes one row, or none if
// there is none.
type TimerCancelKey struct {
	engine.Changes
	Key  string
	Note Note
}

// TimerClaim claims due timers under a lease: suspects, or others where there are none.
type TimerClaim struct {
	engine.Rows[Timer]
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// TimerDispatch moves due timers into the outbox, and returns how many.
type TimerDispatch struct {
	engine.Number
	Most int
}

// TimerFail marks claimed timers as failed for good. It returns how many the owner held.
type TimerFail struct {
	engine.Number
	TimerHeld
	Error *string `text:"any"`
}

// TimerFind reads the timer of a key that has not fired yet. One row, or none.
type TimerFind struct {
	engine.Rows[Timer]
	Key string
}

// TimerGet reads a timer. One row, or none.
type TimerGet struct {
	engine.Rows[Timer]
	TimerRef
}

// TimerListClaimed reads claimed timers, next first; there are never many.
type TimerListClaimed struct {
	engine.Rows[Timer]
	TimerPage
}

// TimerListOver reads timers that are no longer pending, latest first: those before a time
// and a position.
type TimerListOver struct {
	engine.Rows[Timer]
	TimerPage
	Status int
}

// TimerListPending reads pending timers, next first.
type TimerListPending TimerListClaimed

// TimerNextDue reads when a timer is due or a lease expires.
type TimerNextDue struct{ engine.Rows[Wait] }

// TimerPurge deletes timers that ended longer ago than Age.
type TimerPurge struct {
	engine.Changes
	engine.Bounded
	Age  time.Duration
	Most int
}

// TimerReap puts back claimed timers whose lease has expired, as suspects. It returns how
// many.
type TimerReap struct{ engine.Number }

// TimerReschedule changes the due time of a pending timer. It changes one row, or none if it
// is not pending.
type TimerReschedule struct {
	engine.Changes
	TimerRef
	Due  *time.Time // nil: now
	Note Note
}

// TimerSchedule stores timers. A known id changes nothing, and a pending timer of the same
// key is replaced. The number of rows changed has no meaning.
type TimerSchedule struct {
	engine.Changes `call:"timer_schedule_rows"`
	Timers         []NewTimer
}
