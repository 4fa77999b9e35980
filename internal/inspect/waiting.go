package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Kinds of lines.
const (
	Queue  = "queue"
	Timers = "timers"
	Jobs   = "jobs"
)

// Line is what could be taken now and waits in one place: a queue, the timers or the jobs.
type Line struct {
	Kind   string
	Queue  string
	Firsts []op.HealthFirst // of a queue one for each priority
	Oldest op.HealthFirst
	Age    time.Duration // for which the oldest has been due
	// The rest is read of lines that are late.
	Due  int64          // how many are due
	More bool           // there may be more than Due
	Held bool           // somebody holds messages of the queue
	Done *time.Duration // how long ago one of the queue was finished; nil: it is not known
}

// Name is the line's: queue/mail, timers or jobs.
func (l *Line) Name() string {
	if l.Kind == Queue {
		return l.Kind + "/" + l.Queue
	}
	return l.Kind
}

// Waiting returns what waits, by name, without what is paused. queues are those that count; nil:
// all. Of lines that are late, that is of an age, it also reads how many are due, of the first few,
// and whether somebody works on them. It reads one row for each priority of a queue, and a bounded
// number of rows beside them.
func Waiting(ctx context.Context, db engine.DB, queues []string, late time.Duration) ([]Line, error) {
	firsts, err := engine.Query(ctx, db, op.HealthWaiting{})
	if err != nil {
		return nil, err
	}
	var all []Line
	slices.SortFunc(firsts, func(a, b op.HealthFirst) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Queue, b.Queue))
	})
	for _, f := range firsts {
		if f.Kind == Queue && queues != nil && !slices.Contains(queues, f.Queue) {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Kind != f.Kind || all[n-1].Queue != f.Queue {
			all = append(all, Line{Kind: f.Kind, Queue: f.Queue, Oldest: f})
		}
		l := &all[len(all)-1]
		if l.Firsts = append(l.Firsts, f); f.Micros > l.Oldest.Micros {
			l.Oldest = f
		}
		l.Age = Age(l.Oldest.Micros)
	}
	return all, readLate(ctx, db, all, late)
}

const (
	// maxLines is of how many lines that are late the messages are counted, and maxLanes of how many
	// priorities of their queues.
	maxLines = 20
	maxLanes = 100
	// maxRuns is how many runs are read of each. No priority is read for less than that.
	maxRuns = 100
)

// readLate reads how many are due in lines that are late, and whether somebody works on them.
func readLate(ctx context.Context, db engine.DB, all []Line, late time.Duration) error {
	of, counted := map[string]*Line{}, op.BacklogMessages{Runs: maxRuns, Messages: 1, Lanes: maxLanes}
	lines, lanes := 0, 0
	for i := range all {
		l := &all[i]
		if l.Age < late {
			continue
		}
		if lines++; l.Kind != Queue {
			continue
		}
		if of[l.Queue] = l; lines <= maxLines && lanes < maxLanes {
			counted.Queues, lanes = append(counted.Queues, l.Queue), lanes+len(l.Firsts)
		}
	}
	var amounts []Amount
	var signs []op.HealthActive
	var err error
	if len(counted.Queues) > 0 {
		amounts, err = Amounts(ctx, db, counted)
	}
	if err == nil && lines > 0 {
		signs, err = engine.Query(ctx, db, op.HealthActivity{})
	}
	for _, a := range amounts {
		if l := of[a.Queue]; l != nil && a.State == "ready" {
			l.Due, l.More = l.Due+a.Count, l.More || a.More
		}
	}
	for _, s := range signs {
		if l := of[s.Queue]; l != nil {
			l.Held = s.Held
			if s.Micros != nil {
				ago := Age(*s.Micros)
				l.Done = &ago
			}
		}
	}
	for i := range all {
		if l := &all[i]; l.Due == 0 { // it was not counted, or was claimed meanwhile
			l.Due, l.More = 1, true
		}
	}
	return err
}
