package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// BulkFilter selects the failed messages of a bulk act, as DeadFilter does.
type BulkFilter struct {
	Topic       *string
	Queue       *string
	Error       *string
	Fingerprint *string
	FailedSince *time.Time
	Most        *int64
	Rate        int // a second; 0: no limit
}

// Bulk is a bulk act on failed messages as it is stored.
type Bulk struct {
	ID     [16]byte
	Action string // "redrive" or "discard"
	BulkFilter
	FailedBefore time.Time
	Target       string
	Actor        string
	Reason       *string
	Total        int64 // how many messages it selected when it was stored
	N            int64 // how many it has changed
	CreatedAt    time.Time
	At           time.Time // when the next step may begin
	SteppedAt    *time.Time
	EndedAt      *time.Time
	StoppedBy    *string
}

// OutboxBulkPut stores a bulk act: its first step is due now, and what fails after now it leaves
// alone.
type OutboxBulkPut struct {
	engine.Changes
	ID     [16]byte
	Action string
	BulkFilter
	IDs          *string       // JSON array of positions; nil: any
	FailedBefore *time.Time    // nil: now
	Tick         time.Duration // behind now: what failed at the same time as the act was stored is in it
	Target       string
	Actor        string
	Reason       *string
	Total        int64
}

// OutboxBulks reads bulk acts, the newest first.
type OutboxBulks struct {
	engine.Rows[Bulk]
	ID   *[16]byte // nil: any
	Most int
}

// OutboxBulkDue reads bulk acts whose next step has been due for Late, those that are due longest
// first.
type OutboxBulkDue struct {
	engine.Rows[Bulk]
	Late time.Duration
	Most int
}

// OutboxBulkNextDue returns how long until the next step of any bulk act is due. One row.
type OutboxBulkNextDue struct{ engine.Rows[Wait] }

// OutboxBulkStep does the next step of a bulk act, and notes what it changed, and the end. It
// returns 1, or 0 if no step is due or another process is doing it.
type OutboxBulkStep struct {
	engine.Number
	ID   [16]byte
	Look int   // how many failed messages are examined
	Most int64 // how many are changed
	Note Note  // of the end
}

// OutboxBulkStop ends a bulk act before its end. It returns 1, or 0 if it has ended.
type OutboxBulkStop struct {
	engine.Number
	ID   [16]byte
	Note Note
}

// OutboxBulkPurge deletes bulk acts that ended longer ago than an age. It changes as many rows.
type OutboxBulkPurge struct {
	engine.Changes
	Age time.Duration
}
