package op

import "github.com/bravellian/pawl/internal/engine"

// FleetPoll reads when anything in a database needs a worker: messages of queues that are
// not paused, leases that expire, timers, jobs, bulk acts; whether it is moved; and whether
// others work on it. One row.
type FleetPoll struct {
	engine.Rows[Polled]
	Queues []string
}

// Polled is the answer to a poll.
type Polled struct {
	Micros *int64  // until something is due; nil for never
	Phase  *string // of a move; nil: there is none
	// Idle is how long ago a worker did something: 0 or less while a message is claimed,
	// otherwise since the newest message that is done was; nil: there is none.
	Idle *int64
}
