package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func doctor() []engine.Operation {
	return []engine.Operation{
		DoctorAdopt{}, DoctorClaims{}, DoctorLeases{}, DoctorMessages{}, DoctorQueues{}, DoctorRuns{}, DoctorWrite{},
	}
}

// DoctorAdopt makes lanes known that runs lie in and nobody knows, and answers how
// many.
type DoctorAdopt struct {
	engine.Number
	Note Note
}

// DoctorClaims counts claimed runs whose leases ended long ago, among the oldest. One
// row.
type DoctorClaims struct {
	engine.Rows[DoctorExpired]
	Age  time.Duration // since when, at least
	Look int           // how many runs are looked at
}

// DoctorExpired is what is claimed although its lease is over.
type DoctorExpired struct {
	Runs     int64
	Messages int64 // of these runs
	Since    *time.Time
}

// DoctorLeases counts leases that ran out without being given back, among the first
// by name. One row.
type DoctorLeases struct {
	engine.Rows[DoctorLapsed]
	Look int // how many leases are looked at
}

// DoctorLapsed is which leases ran out.
type DoctorLapsed struct {
	N    int64
	Name *string    // of one of them
	Last *time.Time // when the last of them ran out
}

// DoctorMessages finds messages that are not in exactly one place, by position, among
// the newest and the oldest.
type DoctorMessages struct {
	engine.Rows[DoctorPlaces]
	Sample int // how many are looked at on either end
	Most   int
}

// DoctorPlaces is in how many places a message is.
type DoctorPlaces struct {
	ID     int64
	Places int64
}

// DoctorQueues finds the lanes that nobody knows and messages lie in.
type DoctorQueues struct {
	engine.Rows[DoctorLane]
	Look int // in how many runs of each messages are counted
}

// DoctorLane is what lies in a lane that nobody knows.
type DoctorLane struct {
	Lane  int64
	N     int64
	Topic string // of one of the messages, "" if it has none
}

// DoctorRuns finds runs that may be claimed, or are, but whose messages are not there,
// by first id, among the newest and the oldest of each.
type DoctorRuns struct {
	engine.Rows[DoctorHole]
	Sample int // how many are looked at on either end
	Look   int // how many ids of a run are
	Most   int
}

// DoctorHole is how many messages a run lacks.
type DoctorHole struct {
	Lo      int64
	Missing int64
}

// DoctorWrite changes nothing, in a way that a database which cannot be written to
// refuses.
type DoctorWrite struct{ engine.Changes }
