package op

import "github.com/bravellian/pawl/engine"

func fleet() []engine.Operation { return []engine.Operation{FleetLook{}} }

// FleetLook asks when anything in a database wants a worker: messages of queues that
// are not paused, leases that run out, timers, jobs. One row.
type FleetLook struct {
	engine.Rows[FleetDue]
	Queues []string
}

// FleetDue is when there is something to do.
type FleetDue struct{ Micros *int64 } // until then; nil: never
