package op

import "github.com/bravellian/pawl/internal/engine"

func health() []engine.Operation {
	return []engine.Operation{HealthSigns{}, HealthTables{}, HealthWaiting{}}
}

// HealthSigns looks for signs that somebody works on a queue, among the newest hundred
// runs under lease, and as many that are done: a sign proves something, none proves
// nothing. A row for each queue with a sign.
type HealthSigns struct{ engine.Rows[HealthSign] }

// HealthSign is what tells that somebody works on a queue.
type HealthSign struct {
	Queue  string
	Held   bool   // somebody holds messages of it
	Micros *int64 // how long ago one was finished
}

// HealthTables lists tables of pawl that are not there. The list of migrations says
// what was made, not what somebody dropped since.
type HealthTables struct{ engine.Rows[HealthTable] }

// HealthTable is a table that is missing.
type HealthTable struct{ Name string }

// HealthWaiting looks for what could be taken now and waits: the first in each line.
// Kinds are "queue", a row for each lane, nothing of paused queues and topics;
// "timers"; "jobs". It is a probe for each lane, however much waits there.
type HealthWaiting struct{ engine.Rows[HealthFirst] }

// HealthFirst is what is first in a line.
type HealthFirst struct {
	Kind   string
	Queue  string
	Lane   int64
	At     int64 // its place in the line: when it was due, in microseconds since 1970
	ID     int64 // and among what was due then
	Micros int64 // for which it has been due
	Topic  *string
}
