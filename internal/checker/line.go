package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// row is what is first in line in one lane.
type row struct {
	kind, queue string
	lane        int64
	head
	age   time.Duration // since when it has been due
	topic string
}

// head is a place in a line.
type head struct{ at, id int64 }

func (h head) behind(o head) bool { return h.at > o.at || h.at == o.at && h.id > o.id }

// lineup reads what waits, by queue.
func lineup(ctx context.Context, db engine.DB, o *health.Options) (map[string][]row, error) {
	all, err := engine.Query(ctx, db, op.HealthWaiting{})
	by := map[string][]row{}
	for i := range all {
		r := rowOf(&all[i])
		if r.kind != kindQueue || o.Queues == nil || slices.Contains(o.Queues, r.queue) {
			by[r.name()] = append(by[r.name()], r)
		}
	}
	return by, err
}

func rowOf(f *op.HealthFirst) row {
	return row{
		kind: f.Kind, queue: f.Queue, lane: f.Lane, head: head{f.At, f.ID},
		age: time.Duration(f.Micros) * time.Microsecond, topic: worker.Value(f.Topic),
	}
}

const kindQueue = "queue"

// name is that of the line which a row belongs to.
func (r *row) name() string {
	if r.kind != kindQueue {
		return r.kind
	}
	return r.kind + "/" + r.queue
}

// line is what waits in one place, put together.
type line struct {
	name   string
	kind   string
	queue  string
	lanes  []int64
	oldest row
	n      int64 // how many are due, as far as they were counted
	more   bool  // than n
}

func together(rows []row) line {
	l := line{name: rows[0].name(), kind: rows[0].kind, queue: rows[0].queue, n: 1, more: true}
	l.oldest = slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.age, b.age) })
	for i := range rows {
		l.lanes = append(l.lanes, rows[i].lane)
	}
	return l
}

// overdue are the lines in which something waits for too long, by name, the first few
// of them counted.
func overdue(ctx context.Context, db engine.DB, by map[string][]row, o *health.Options) ([]line, error) {
	var all []line
	for _, rows := range by {
		if l := together(rows); l.oldest.age >= o.Waiting {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	return all, count(ctx, db, all[:min(len(all), few)])
}

// The bounds of a count of what is due: how many lanes, and how many runs of each. No lane
// is read for less than that.
const (
	maxLanes = 100
	maxRuns  = 100
)

// count counts what is due in lines, a bounded number of messages of each.
func count(ctx context.Context, db engine.DB, lines []line) error {
	of, lanes := map[string]*line{}, 0
	var queues []string
	for i := range lines {
		if l := &lines[i]; l.kind == kindQueue && lanes < maxLanes {
			of[l.queue], queues = l, append(queues, l.queue)
			l.n, l.more = 0, false
			lanes += len(l.lanes)
		}
	}
	if len(queues) == 0 {
		return nil
	}
	amounts, err := engine.Query(ctx, db, op.BacklogMessages{Queues: queues, Runs: maxRuns, Messages: 1, Lanes: maxLanes})
	for _, a := range amounts {
		if l := of[a.Queue]; l != nil && a.State == "ready" {
			l.n += a.N
			l.more = l.more || a.More
		}
	}
	for _, l := range of {
		if l.n == 0 { // claimed meanwhile, or in a lane beyond the bound
			l.n, l.more = 1, true
		}
	}
	return err
}

// text says what waits.
func (l *line) text() string {
	what, place := "message", "queue "+l.queue
	if l.kind != kindQueue {
		what, place = l.kind[:len(l.kind)-1], l.kind
	}
	text := fmt.Sprintf("%s: %s %s due, the oldest for %s", place, several(l.n, l.more, what), are(l.n), span(l.oldest.age))
	if l.oldest.topic == "" {
		return text
	}
	if l.kind == "jobs" {
		return text + " (" + l.oldest.topic + ")"
	}
	return text + " (topic " + l.oldest.topic + ")"
}

// finding is what the line comes to. text goes on after what waits.
func (l *line) finding(level health.Level, text, next string, facts ...health.Fact) health.Finding {
	return health.Finding{
		Code: "waiting/" + l.name, Level: level, Summary: l.text() + text, NextStep: next,
		Facts: append(health.Facts{fact("due", l.n), fact("more", l.more), fact("oldest", seconds(l.oldest.age))}, facts...),
	}
}

// sign is what tells that somebody works on a queue.
type sign struct {
	held bool           // somebody holds messages of it
	done *time.Duration // how long ago one was finished
}

// signs asks for them.
func signs(ctx context.Context, db engine.DB) (map[string]sign, error) {
	found, err := engine.Query(ctx, db, op.HealthActivity{})
	all := map[string]sign{}
	for _, f := range found {
		s := sign{held: f.Held}
		if f.Micros != nil {
			d := time.Duration(*f.Micros) * time.Microsecond
			s.done = &d
		}
		all[kindQueue+"/"+f.Queue] = s
	}
	return all, err
}

// overdueSigns is overdue with what tells whether somebody works on it.
func overdueSigns(ctx context.Context, db engine.DB, by map[string][]row, o *health.Options) ([]line, map[string]sign, *health.Finding) {
	late, err := overdue(ctx, db, by, o)
	if err == nil && len(late) == 0 {
		return nil, nil, nil
	}
	var known map[string]sign
	if err == nil {
		known, err = signs(ctx, db)
	}
	if err != nil {
		f := problem("waiting", "what waits could not be looked up: "+cause(ctx, err, 0), "")
		return nil, nil, &f
	}
	return late, known, nil
}
