package op

import "github.com/bravellian/pawl/internal/engine"

func fleet() []engine.Operation { return []engine.Operation{FleetPoll{}} }

// FleetPoll reads when anything in a database needs a worker: messages of queues that are
// not paused, leases that expire, timers, jobs. One row.
type FleetPoll struct {
	engine.Rows[Wait]
	Queues []string
}
