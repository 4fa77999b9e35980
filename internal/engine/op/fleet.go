package op

import "github.com/bravellian/pawl/internal/engine"

func fleet() []engine.Operation { return []engine.Operation{FleetLook{}} }

// FleetLook asks when anything in a database wants a worker: messages of queues that
// are not paused, leases that run out, timers, jobs. One row.
type FleetLook struct {
	engine.Rows[Wait]
	Queues []string
}
