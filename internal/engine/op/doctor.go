package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// DoctorAdopt registers lanes that have runs and are not registered, and returns how many.
type DoctorAdopt struct {
	engine.Number
	Note Note
}

// DoctorClaims counts claimed runs whose leases ended long ago, among the oldest. One
// row.
type DoctorClaims struct {
	engine.Rows[DoctorExpired]
	Age  time.Duration // since when, at least
	Look int           // how many runs are examined
}

// DoctorExpired is what is still claimed under an expired lease.
type DoctorExpired struct {
	Runs     int64
	Messages int64 // of these runs
	Since    *time.Time
}

// DoctorLeases counts leases that expired without being released, among the first by name.
// One row.
type DoctorLeases struct {
	engine.Rows[DoctorLapsed]
	Look int // how many leases are examined
}

// DoctorLapsed describes leases that expired.
type DoctorLapsed struct {
	N    int64
	Name *string    // of one of them
	Last *time.Time // when the last of them expired
}

// DoctorMessages reads messages that are not in exactly one place, by position, among the
// newest and the oldest.
type DoctorMessages struct {
	engine.Rows[DoctorPlaces]
	Sample int // how many are examined at either end
	Most   int
}

// DoctorPlaces is in how many places a message is.
type DoctorPlaces struct {
	ID     int64
	Places int64
}

// DoctorNowhere reads which messages behind a position are in no place, by position, and the last of those
// that it looked at, from which the next page goes on. No row: there are no more.
type DoctorNowhere struct {
	engine.Rows[DoctorSeen]
	After int64
	Look  int // how many messages are examined
}

// DoctorSeen is a message that was looked for.
type DoctorSeen struct {
	ID      int64
	Nowhere bool
}

// DoctorPlace makes a message ready again that is in no place. It looks once more, under a lock, and returns
// 1, or 0 if the message is somewhere.
type DoctorPlace struct {
	engine.Number
	ID   int64
	Note Note
}

// DoctorQueues finds the lanes that nobody knows and messages lie in.
type DoctorQueues struct {
	engine.Rows[DoctorLane]
	Look int // in how many runs of each lane messages are counted
}

// DoctorLane is a lane that is not registered, and its messages.
type DoctorLane struct {
	Lane  int64
	N     int64
	Topic string // of one of the messages, "" if it has none
}

// DoctorRuns reads runs that are ready or claimed but whose messages do not exist, by first
// id, among the newest and the oldest of each.
type DoctorRuns struct {
	engine.Rows[DoctorHole]
	Sample int // how many are examined at either end
	Look   int // how many ids of a run are examined
	Most   int
}

// DoctorHole is how many messages of a run are missing.
type DoctorHole struct {
	Lo      int64
	Missing int64
}

// DoctorWrite changes nothing, in a way that a database which cannot be written to
// refuses.
type DoctorWrite struct{ engine.Changes }
