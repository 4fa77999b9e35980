package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// AuditEntry is an entry of the audit trail as it is stored.
type AuditEntry struct {
	ID     [16]byte
	At     time.Time
	Actor  string
	DBUser string // empty where the database knows no users
	Action string
	Target string
	Reason *string
	N      int64
}

// AuditList reads entries of the audit trail, newest first.
type AuditList struct {
	engine.Rows[AuditEntry]
	Before   time.Time // only entries older than this or, of the same time,
	BeforeID [16]byte  // with an id below this
	Actor    *string   // nil: any
	Action   *string   // nil: any
	Most     int
}

// AuditNote adds n to the entry of an action, and returns that number. Nothing is recorded
// where nothing changed.
type AuditNote struct {
	engine.Number
	Note   Note
	Action string
	N      int64
}

// AuditPurge deletes entries older than an age. It returns how many.
type AuditPurge struct {
	engine.Number
	Age  time.Duration
	Most int
}
