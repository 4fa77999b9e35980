package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func audit() []engine.Operation {
	return []engine.Operation{AuditList{}, AuditNote{}, AuditPurge{}}
}

// AuditEntry is an entry of the audit trail as it is stored.
type AuditEntry struct {
	ID     [16]byte
	At     time.Time
	Actor  string
	Action string
	Target string
	Reason *string
	N      int64
}

// AuditList reads what operators did, newest first.
type AuditList struct {
	engine.Rows[AuditEntry]
	Before   time.Time // only what is older than this and, of the same time,
	BeforeID [16]byte  // has an id below this
	Actor    *string   // nil: any
	Action   *string   // nil: any
	Most     int
}

// AuditNote puts what was done on the account of an act, and answers it. Nothing is
// noted where nothing changed.
type AuditNote struct {
	engine.Number
	Note   Note
	Action string
	N      int64
}

// AuditPurge forgets what was done longer ago than an age. It answers how many entries.
type AuditPurge struct {
	engine.Number
	Age  time.Duration
	Most int
}
