package op

import "github.com/bravellian/pawl/internal/engine"

func fleet() []engine.Operation { return []engine.Operation{FleetPoll{}} }

// FleetPoll reads when anything in a database needs a worker: messages of queues that are
// not paused, leases that expire, timers, jobs, bulk acts; and whether it is moved. One row.
type FleetPoll struct {
	engine.Rows[Polled]
	Queues []string
}

// Polled is the answer to a poll.
type Polled struct {
	Micros *int64  // until something is due; nil for never
	Phase  *string // of a move; nil: there is none
}
