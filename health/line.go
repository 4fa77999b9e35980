package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

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
func lineup(ctx context.Context, db engine.DB, o *Options) (map[string][]row, error) {
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
func overdue(ctx context.Context, db engine.DB, by map[string][]row, o *Options) ([]line, error) {
	var all []line
	for _, rows := range by {
		if l := together(rows); l.oldest.age >= o.Waiting {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	return all, count(ctx, db, all[:min(len(all), few)])
}

// maxLanes bounds in how many lanes messages are counted.
const maxLanes = 100

// count counts what is due in lines, a bounded number of messages of each.
func count(ctx context.Context, db engine.DB, lines []line) error {
	var lanes []int64
	of := map[int64]*line{}
	for i := range lines {
		l := &lines[i]
		if l.kind != kindQueue {
			continue
		}
		l.n, l.more = 0, false
		for _, lane := range l.lanes {
			if len(lanes) == maxLanes {
				l.more = true
				break
			}
			lanes, of[lane] = append(lanes, lane), l
		}
	}
	if len(lanes) == 0 {
		return nil
	}
	amounts, err := engine.Query(ctx, db, op.HealthBacklog{Lanes: lanes})
	for _, a := range amounts {
		l := of[a.Lane]
		l.n += a.N
		l.more = l.more || a.More
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

// check is the line's check.
func (l *line) check(v Verdict, text string) Check {
	return Check{Name: "waiting/" + l.name, Verdict: v, Text: l.text() + text}.
		with("due", l.n).with("more", l.more).with("oldest", seconds(l.oldest.age))
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
func overdueSigns(ctx context.Context, db engine.DB, by map[string][]row, o *Options) ([]line, map[string]sign, *Check) {
	late, err := overdue(ctx, db, by, o)
	if err == nil && len(late) == 0 {
		return nil, nil, nil
	}
	var known map[string]sign
	if err == nil {
		known, err = signs(ctx, db)
	}
	if err != nil {
		c := fail("waiting", "what waits could not be looked up: "+cause(ctx, err, 0))
		return nil, nil, &c
	}
	return late, known, nil
}
