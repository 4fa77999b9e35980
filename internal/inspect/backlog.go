// Package inspect reads what waits, what runs, what fails and who works on a database. Health,
// explain, doctor, the backlog, metrics and the command line ask it, and each presents what it
// returns. What it reads is bounded: the cost does not grow with the tables.
package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/registry"
)

// The bounds of ReadBacklog: runs are messages that were written together, and lanes are queues at a
// priority.
const (
	backlogRuns     = 10_000
	backlogMessages = 10_000
	backlogLanes    = 500
)

// Backlog is what is in the database. Each number is counted up to a bound: see ReadBacklog.
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
	// State is ready (due), scheduled (due later), retrying (an attempt failed, the next is due later),
	// unhandled (put back, and no live worker has a handler), paused, in_flight (claimed) or failed
	// (for good).
	State string `json:"state"`
	// Count is at least 1, or 0 if messages were not counted: see More.
	Count int64 `json:"count"`
	// Oldest is for how long the oldest of them has been due, of those that are ready, paused or
	// unhandled.
	Oldest time.Duration `json:"oldest,omitempty"`
	// More is true if there may be more of this state and queue than were counted.
	More bool `json:"more,omitempty"`
}

// ReadBacklog returns how much is in the database. What it reads does not grow with the tables: 500
// queues with their priorities, and in all of these 10 000 runs (messages that were written
// together) that wait and as many that are claimed, of which 10 000 messages are read for their
// topic; of a queue with a priority 100 of each at least. Every other number is at most 10 000. Its
// two reads wait for no writer, and see the database one after the other: a message that moves
// meanwhile may be counted in both, or in one.
func ReadBacklog(ctx context.Context, db engine.DB) (Backlog, error) {
	calls, backlog := ListBacklog(backlogMessages)
	troubled, trouble := ListTrouble()
	list, workers := registry.Listing()
	if err := engine.ReadAll(ctx, db, append(append(calls, troubled...), list)...); err != nil {
		return Backlog{}, err
	}
	return backlog(Workers(workers()).WithoutHandler(trouble())), nil
}

// ListBacklog returns the calls that read what ReadBacklog returns, for callers that read more in the same round
// trip and know which topics nobody handles, and a function that returns it once they were answered. Topics of failed
// messages are read one by one: failed is how many of these are among Messages, at most.
func ListBacklog(failed int64) ([]*engine.Call, func(unhandled []Trouble) Backlog) {
	var n op.BacklogCount
	call, amounts := ListAmounts(op.BacklogMessages{Runs: backlogRuns, Messages: backlogMessages, Failed: failed, Lanes: backlogLanes})
	return []*engine.Call{call, engine.One(op.BacklogCounts{Most: backlogRuns}, &n)}, func(unhandled []Trouble) Backlog {
		return Backlog{
			Messages: amounts(unhandled), Failed: n.MessagesFailed, TimersDue: n.TimersDue, TimersScheduled: n.TimersScheduled, TimersLate: Age(n.TimersDueMicros),
			JoinsPending: n.JoinsPending, JoinsFailed: n.JoinsFailed, Workers: n.Workers,
		}
	}
}

// Amounts returns how many messages there are, within the bounds of o, by queue, topic and state.
func Amounts(ctx context.Context, db engine.DB, o op.BacklogMessages) ([]Amount, error) {
	call, list := ListAmounts(o)
	err := db.Read(ctx, call)
	return list(nil), err
}

// ListAmounts returns the call that reads what Amounts returns, for callers that read more in the
// same round trip, and a function that returns it once the call was answered. What was put back counts
// as unhandled if its topic is among those, and otherwise as scheduled.
func ListAmounts(o op.BacklogMessages) (*engine.Call, func(unhandled []Trouble) []Amount) {
	var rows []op.BacklogAmount
	return engine.List(o, &rows), func(unhandled []Trouble) []Amount {
		for i := range rows {
			r := &rows[i]
			if r.State != "put_back" {
				continue
			}
			if slices.ContainsFunc(unhandled, func(t Trouble) bool { return t.Topic == r.Topic && t.Queue == r.Queue }) {
				r.State = "unhandled"
			} else {
				r.State, r.Micros = "scheduled", 0
			}
		}
		return sum(rows)
	}
}

// sum adds up what is of the same queue, topic and state: a queue has a row for each priority.
// What was not read for its topic is last of its queue.
func sum(rows []op.BacklogAmount) []Amount {
	type place struct{ queue, topic, state string }
	at, all := map[place]int{}, []Amount{}
	for _, r := range rows {
		if r.N <= 0 && !r.More {
			continue
		}
		i, known := at[place{r.Queue, r.Topic, r.State}]
		if !known {
			i = len(all)
			at[place{r.Queue, r.Topic, r.State}], all = i, append(all, Amount{Queue: r.Queue, Topic: r.Topic, State: r.State})
		}
		m := &all[i]
		m.Count, m.Oldest, m.More = m.Count+max(r.N, 0), max(m.Oldest, Age(r.Micros)), m.More || r.More
	}
	rest := map[bool]int{true: 1}
	slices.SortFunc(all, func(a, b Amount) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(rest[a.Topic == ""], rest[b.Topic == ""]), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.State, b.State))
	})
	return all
}

// Of adds up the amounts that are in one of some states.
func Of(all []Amount, states ...string) (n int64, more bool) {
	for i := range all {
		if a := &all[i]; slices.Contains(states, a.State) {
			n, more = n+a.Count, more || a.More
		}
	}
	return n, more
}

// Age returns a number of microseconds as a duration; one by a clock that was set back is 0.
func Age(micros int64) time.Duration { return max(0, time.Duration(micros)*time.Microsecond) }

// Counts returns how much is due, overdue, failed or alive. Each kind is counted up to most; what
// is due or expired counts after an age.
func Counts(ctx context.Context, db engine.DB, age time.Duration, most int64) (op.BacklogCount, error) {
	n, _, err := engine.Get(ctx, db, op.BacklogCounts{Age: age, Most: most})
	return n, err
}
