package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// DoctorLines reads messages with ordering keys that are in line, by position.
type DoctorLines struct {
	engine.Rows[DoctorLine]
	After int64 // only positions above this one
	Most  int
}

// Where a message with an ordering key is.
const (
	LinePlaceOver    = 0 // settled, or nowhere
	LinePlaceFree    = 1 // claimed, or where claims find it
	LinePlaceWaiting = 2 // behind others
	LinePlaceFailed  = 3 // failed for good
)

// DoctorLine is a message that is in line.
type DoctorLine struct {
	ID        int64
	Lane      int64
	Key       string
	Head      bool
	Headless  bool // no message of its key is the head
	Place     int64
	MessageID *[16]byte
	UpdatedAt *time.Time // when it last went wrong
}

// DoctorStrays reads messages that wait behind others of their ordering key and are not in line, by
// position.
type DoctorStrays struct {
	engine.Rows[DoctorStray]
	Look int // how many of each queue are examined
	Most int
}

// DoctorStray is a message that waits for nothing.
type DoctorStray struct{ ID int64 }

// DoctorLineRepair lets the line of a message be claimed from again, or puts a stray in line. It
// examines the line once more, under its lock, and returns 1, or 0 if nothing is wrong with it.
type DoctorLineRepair struct {
	engine.Number
	ID   int64
	Note Note
}
