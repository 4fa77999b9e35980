package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Worker is a process that works on the database, or one that crashed. Queues, topics, positions
// of messages whose handlers are overdue, and what handlers say of their progress are JSON arrays.
type Worker struct {
	ID          [16]byte
	Name        string
	Host        string
	PID         int64
	Version     string
	StartedAt   time.Time
	HeartbeatAt time.Time
	Queues      string
	Topics      string
	Concurrency int64
	InFlight    int64
	Overdue     string
	Progress    string
	ClockAhead  int64 // in microseconds
	Waiting     int64
	Connections int64
	Shared      bool // it works on many databases, taking turns
	Alive       bool
}

// WorkerHeartbeat is a process's heartbeat.
type WorkerHeartbeat struct {
	engine.Changes
	ID          [16]byte
	Name        string `text:"any"`
	Host        string `text:"any"`
	PID         int
	Version     string
	Queues      string `text:"any"`
	Topics      string `text:"any"`
	Concurrency int
	InFlight    int64
	Overdue     string
	Progress    string `text:"any"`
	ClockAhead  int64  // microseconds by which its clock is ahead of the database's
	Waiting     int64  // callers that waited for a connection, on average since the heartbeat before
	Connections int64  // of its pool; 0: any number
	Shared      bool
	Alive       time.Duration // how long it counts as alive
}

// WorkerLeave removes a process from the list.
type WorkerLeave struct {
	engine.Changes
	ID [16]byte
}

// WorkerList reads the processes, oldest first.
type WorkerList struct {
	engine.Rows[Worker]
	Most int
}

// WorkerPrune deletes processes that have not counted as alive for longer than an age.
type WorkerPrune struct {
	engine.Changes
	Age time.Duration
}
