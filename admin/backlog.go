package admin

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
)

// The bounds of Backlog: runs are messages that were written together, and lanes are queues at a
// priority.
const (
	backlogRuns     = 10_000
	backlogMessages = 10_000
	backlogLanes    = 500
)

// Backlog is what is in the database. Each number is counted up to a bound: see Admin.Backlog.
type Backlog struct {
	// Messages are those that are not done, by queue, topic and state.
	Messages []Amount `json:"messages"`
	// Failed is how many messages failed for good, of all queues and topics together.
	Failed int64 `json:"failed"`
	// TimersDue is how many timers are due and are no messages yet.
	TimersDue int64 `json:"timers_due"`
	// TimersScheduled is how many timers are due later.
	TimersScheduled int64 `json:"timers_scheduled"`
	// TimersLate is for how long the first of TimersDue has been due.
	TimersLate time.Duration `json:"timers_late,omitempty"`
	// JoinsPending is how many joins wait for steps.
	JoinsPending int64 `json:"joins_pending"`
	// JoinsFailed is how many joins ended with failed steps, and were not purged yet.
	JoinsFailed int64 `json:"joins_failed"`
	// Workers is how many processes that work on the database are alive.
	Workers int64 `json:"workers"`
}

// Amount is how many messages of a queue and a topic are in a state.
type Amount struct {
	Queue string `json:"queue"`
	// Topic is empty for messages that were counted and not read for their topic.
	Topic string `json:"topic"`
	// State is ready (due), scheduled (due later), paused, in_flight (claimed) or failed (for good).
	State string `json:"state"`
	// Count is at least 1, or 0 where More tells of messages that were not counted.
	Count int64 `json:"count"`
	// Oldest is for how long the oldest of them has been due, of those that are ready or paused.
	Oldest time.Duration `json:"oldest,omitempty"`
	// More is true if there may be more of this state and queue than were counted.
	More bool `json:"more,omitempty"`
}

// Backlog returns how much is in the database. What it reads does not grow with the tables: 500
// queues with their priorities, and in all of these 10 000 runs (messages that were written
// together) that wait and as many that are claimed, of which 10 000 messages are read for their
// topic; of a queue with a priority 100 of each at least. Every other number is at most 10 000. Its
// two reads wait for no writer, and see the database one after the other: a message that moves
// meanwhile may be counted in both, or in one. It is safe for concurrent use, and returns the errors
// of the database and of ctx.
func (a *Admin) Backlog(ctx context.Context) (Backlog, error) {
	amounts, err := inspect.Amounts(ctx, a.db, op.BacklogMessages{Runs: backlogRuns, Messages: backlogMessages, Lanes: backlogLanes})
	if err != nil {
		return Backlog{}, err
	}
	n, err := inspect.Counts(ctx, a.db, 0, backlogRuns)
	if err != nil {
		return Backlog{}, err
	}
	b := Backlog{
		Messages: make([]Amount, len(amounts)), Failed: n.MessagesFailed, TimersDue: n.TimersDue, TimersScheduled: n.TimersScheduled, TimersLate: inspect.Age(n.TimersDueMicros),
		JoinsPending: n.JoinsPending, JoinsFailed: n.JoinsFailed, Workers: n.Workers,
	}
	for i := range amounts {
		b.Messages[i] = Amount(amounts[i])
	}
	return b, nil
}
