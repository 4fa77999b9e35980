package admin

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/inspect"
)

// Worker is a process that works on the database.
type Worker struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"` // as in ProcessedBy of messages
	Host string    `json:"host"`
	PID  int64     `json:"pid"`
	// Version is the program's, or the commit that it was built from.
	Version string    `json:"version"`
	Started time.Time `json:"started,omitzero"`
	// Heartbeat is when the process last reported that it is alive, every 10 s.
	Heartbeat time.Time `json:"heartbeat,omitzero"`
	Queues    []string  `json:"queues"`
	Topics    []string  `json:"topics"` // that have handlers
	// Concurrency is how many handlers it runs at once.
	Concurrency int64 `json:"concurrency"`
	// InFlight is how many messages it held at its last heartbeat.
	InFlight int64 `json:"in_flight"`
	// Overdue are positions of messages, at most 100, whose handlers had not returned at the last
	// heartbeat long after their time-out: they ignore their context.
	Overdue []int64 `json:"overdue,omitempty"`
	// ClockAhead is by how much its clock is ahead of the database's, negative if it is behind; 0: by
	// less than it can tell.
	ClockAhead time.Duration `json:"clock_ahead,omitempty"`
	// Waiting is how many callers waited for one of the Connections of its pool, on average between its
	// last two heartbeats.
	Waiting int64 `json:"waiting"`
	// Connections is how many connections its pool may have; 0: any number.
	Connections int64 `json:"connections"`
	// Shared is true for a process that works on many databases in turn. It may be
	// silent for a day and counts as alive.
	Shared bool `json:"shared"`
	// Alive is false for a process that stopped without leaving the list: it crashed or
	// lost the database. One that was killed counts as alive for up to 30 s.
	Alive bool `json:"alive"`
}

// Workers returns the processes that work on the database, oldest first, at most 10 000,
// and those that crashed within a day.
func (a *Admin) Workers(ctx context.Context) ([]Worker, error) {
	list, err := inspect.ListWorkers(ctx, a.db)
	var all []Worker
	for i := range list {
		all = append(all, Worker(list[i]))
	}
	return all, err
}
