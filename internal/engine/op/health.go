package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func health() []engine.Operation {
	return []engine.Operation{HealthBacklog{}, HealthFailed{}, HealthPing{}, HealthActivity{}, HealthStuck{}, HealthTables{}, HealthWaiting{}}
}

// HealthBacklog counts what is due in lanes, in the first hundred runs of each. One row per
// lane.
type HealthBacklog struct {
	engine.Rows[HealthAmount]
	Lanes []int64
}

// HealthAmount is how much is due in a lane.
type HealthAmount struct {
	Lane int64
	N    int64 // messages
	More bool  // there may be more than N
}

// HealthFailed returns how many messages failed for good.
type HealthFailed struct {
	engine.Number
	Most int // the most counted
}

// HealthPing tests whether the database answers. The number has no meaning.
type HealthPing struct{ engine.Number }

// HealthActivity reads evidence that queues are worked on, among the newest hundred runs under
// lease, and as many that are done: a row proves it, no row proves nothing. One row per
// queue with evidence.
type HealthActivity struct{ engine.Rows[HealthActive] }

// HealthActive is evidence that a queue is worked on.
type HealthActive struct {
	Queue  string
	Held   bool   // messages of it are claimed
	Micros *int64 // how long ago one was finished
}

// HealthStuck returns how many messages of the inbox are being processed, were not delivered
// again for long and have no valid lease.
type HealthStuck struct {
	engine.Number
	Age  time.Duration // since they were last seen, at least
	Most int           // the most counted
}

// HealthTables lists tables of pawl that do not exist. The list of migrations has what was
// created, not what was dropped since.
type HealthTables struct{ engine.Rows[HealthTable] }

// HealthTable is a table that is missing.
type HealthTable struct{ Name string }

// HealthWaiting reads what could be taken now and is waiting: the first of each line. Kinds
// are "queue", one row per lane, without paused queues and topics; "timers"; "jobs". It is
// one index probe per lane, however much is waiting.
type HealthWaiting struct{ engine.Rows[HealthFirst] }

// HealthFirst is the first of a line.
type HealthFirst struct {
	Kind   string
	Queue  string
	Lane   int64
	At     int64 // the order of the line: when it was due, in microseconds since 1970
	ID     int64 // the order among those due at the same time
	Micros int64 // how long it has been due
	Topic  *string
}
