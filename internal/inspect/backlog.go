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
)

// Amount is how many messages of a queue and a topic are in a state: ready, scheduled, paused,
// in_flight or failed.
type Amount struct {
	Queue  string
	Topic  string // "": the others of the queue, which were not read for their topic
	State  string
	Count  int64
	Oldest time.Duration // for which the first of those that are ready or paused has been due
	More   bool          // there may be more than Count
}

// Amounts returns how many messages there are, within the bounds of o, by queue, topic and state.
func Amounts(ctx context.Context, db engine.DB, o op.BacklogMessages) ([]Amount, error) {
	call, list := ListAmounts(o)
	err := db.Read(ctx, call)
	return list(), err
}

// ListAmounts returns the call that reads what Amounts returns, for callers that read more in the
// same round trip, and a function that returns it once the call was answered.
func ListAmounts(o op.BacklogMessages) (*engine.Call, func() []Amount) {
	var rows []op.BacklogAmount
	return engine.List(o, &rows), func() []Amount { return sum(rows) }
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
