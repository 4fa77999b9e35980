package op

import "github.com/bravellian/pawl/internal/engine"

// HealthActivity checks whether queues are worked on, among the newest hundred runs under
// lease, and as many that are done: a row is evidence, none proves nothing. A row for each
// queue with evidence.
type HealthActivity struct{ engine.Rows[HealthActive] }

// HealthActive is evidence that a queue is worked on.
type HealthActive struct {
	Queue  string
	Held   bool   // messages of it are claimed
	Micros *int64 // how long ago one was finished
}

// HealthTables lists tables of pawl that are not there. The list of migrations says
// what was made, not what somebody dropped since.
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
	Topic  string
}
