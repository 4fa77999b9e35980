package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// What tells "nobody claims" from "busy with a long backlog"?
//
// Claims take what is first in line. So if what was first in line at the last look is
// gone, somebody claims, whoever that is, in whatever process and language, and
// however long the backlog is. If it is still there after a minute in which it was
// due, nobody does. This costs one probe of an index for every lane and needs nothing
// but two looks; at the first one it can only be said that it is too early to tell.
//
// Two more signs are asked for once work is overdue. A message of the queue that was
// finished lately is as good as a claim. And while somebody holds messages of the
// queue all workers may just be busy with long ones: then they are given longer, ten
// minutes. After that they count as hanging, for the work behind them is not claimed.
//
// Messages that are claimed and put back again and again, because their handler fails
// or because nobody has one, are claimed: each time they move to a later time, and
// between tries they are not due. They make nothing unhealthy. Topics without a
// handler are warned of; see unhandled.

// row is what is first in line in one lane.
type row struct {
	kind, queue string
	lane        int64
	head
	age   time.Duration // since when it has been due
	topic string
	n     int64 // how many are due
	more  bool  // than n
}

// head is a place in a line.
type head struct{ at, id int64 }

func (h head) behind(o head) bool { return h.at > o.at || h.at == o.at && h.id > o.id }

// lineup reads what waits, by queue.
func lineup(ctx context.Context, db engine.DB, o *Options) (map[string][]row, error) {
	var all []row
	err := db.Read(ctx, &engine.Call{Op: "health/waiting", Args: []any{o.Waiting}, Reset: func() { all = nil }, Each: func(r engine.Row) error {
		var one row
		var age int64
		var topic *string
		err := r.Scan(&one.kind, &one.queue, &one.lane, &one.at, &one.id, &age, &topic, &one.n, &one.more)
		one.age, one.topic = time.Duration(age)*time.Microsecond, work.Value(topic)
		all = append(all, one)
		return err
	}})
	by := map[string][]row{}
	for _, r := range all {
		if r.kind != kindQueue || o.Queues == nil || slices.Contains(o.Queues, r.queue) {
			by[r.name()] = append(by[r.name()], r)
		}
	}
	return by, err
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
	oldest row
	n      int64
	more   bool
}

func together(rows []row) line {
	l := line{name: rows[0].name(), kind: rows[0].kind, queue: rows[0].queue}
	l.oldest = slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.age, b.age) })
	for i := range rows {
		l.n += rows[i].n
		l.more = l.more || rows[i].more
	}
	return l
}

// overdue are the lines in which something waits for too long, by name.
func overdue(by map[string][]row, o *Options) []line {
	var all []line
	for _, rows := range by {
		if l := together(rows); l.oldest.age >= o.Waiting {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.name, b.name) })
	return all
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
	var all map[string]sign
	err := db.Read(ctx, &engine.Call{Op: "health/signs", Reset: func() { all = map[string]sign{} }, Each: func(r engine.Row) error {
		var queue string
		var s sign
		var ago *int64
		err := r.Scan(&queue, &s.held, &ago)
		if ago != nil {
			d := time.Duration(*ago) * time.Microsecond
			s.done = &d
		}
		all[kindQueue+"/"+queue] = s
		return err
	}})
	return all, err
}

// watch is what was seen at the looks so far, by line.
type watch map[string]*seen

type seen struct {
	first map[int64]head // in line, by lane
	since time.Time      // the first look, or the last at which it had moved on
	moved bool
}

// look compares with the last look.
func (w watch) look(now time.Time, by map[string][]row) {
	for name := range w {
		if by[name] == nil {
			delete(w, name)
		}
	}
	for name, rows := range by {
		s := w[name]
		if s == nil {
			s = &seen{first: map[int64]head{}, since: now}
			w[name] = s
		}
		s.look(now, rows)
	}
}

func (s *seen) look(now time.Time, rows []row) {
	here := map[int64]head{}
	for i := range rows {
		here[rows[i].lane] = rows[i].head
	}
	for lane, was := range s.first {
		is, there := here[lane]
		switch {
		case there && !is.behind(was): // the same, or one that came late to an earlier place
			here[lane] = was
		default:
			s.since, s.moved = now, true
		}
	}
	s.first = here
}

// forgive begins anew: while the database is away nobody can claim.
func (c *Checker) forgive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.waiting {
		s.since, s.moved = time.Now(), false
	}
}

// work is the checks of what could be claimed.
func (c *Checker) work(ctx context.Context) []Check {
	by, err := lineup(ctx, c.cfg.DB, &c.cfg.Options)
	if err != nil {
		return []Check{fail("waiting", "what waits could not be looked up: "+cause(ctx, err, 0))}
	}
	c.mu.Lock()
	c.waiting.look(time.Now(), by)
	idle, moved := map[string]time.Duration{}, map[string]bool{}
	for name, s := range c.waiting {
		idle[name], moved[name] = time.Since(s.since), s.moved
	}
	c.mu.Unlock()
	late := overdue(by, &c.cfg.Options)
	if len(late) == 0 {
		return []Check{nothingWaits(by)}
	}
	known, err := signs(ctx, c.cfg.DB)
	if err != nil {
		return []Check{fail("waiting", "who works could not be looked up: "+cause(ctx, err, 0))}
	}
	var checks []Check
	for i := range late {
		l, s := &late[i], known[late[i].name]
		quiet, seen := idle[l.name], moved[l.name]
		if s.done != nil && *s.done <= c.cfg.Waiting {
			quiet, seen = min(quiet, *s.done), true
		}
		checks = append(checks, c.judge(ctx, l, s.held, quiet, seen))
	}
	return bounded(checks)
}

// judge says what a line comes to of which nothing was claimed for a while; seen is
// false if it never was, as far as is known.
func (c *Checker) judge(ctx context.Context, l *line, held bool, quiet time.Duration, seen bool) Check {
	switch o := &c.cfg.Options; {
	case quiet <= o.Waiting && seen:
		return l.check(OK, ", and it is being worked on")
	case quiet <= o.Waiting:
		return l.check(Warn, "; whether anybody claims cannot be told yet")
	case held && quiet <= o.Busy:
		return l.check(Warn, fmt.Sprintf("; nothing was claimed for %s, those who hold other messages of it may all be busy", span(quiet))).with("idle", seconds(quiet))
	case held:
		return l.check(Fail, fmt.Sprintf("; nothing was claimed for %s: the handlers of those who hold other messages of it hang, or are that slow", span(quiet))).
			with("idle", seconds(quiet))
	}
	return l.check(Fail, fmt.Sprintf(", and nobody has claimed any for %s; %s", span(quiet), c.advice(ctx, l))).with("idle", seconds(quiet))
}

// advice is what to do about a line that nobody serves.
func (c *Checker) advice(ctx context.Context, l *line) string {
	if c.cfg.Workers != nil {
		if all, err := c.cfg.Workers.List(ctx); err == nil {
			if s := servers(all, l); len(s) > 0 {
				return fmt.Sprintf("%s %s alive and should: see what it logs", several(int64(len(s)), false, "worker"), are(int64(len(s))))
			}
		}
	}
	return help(l)
}

func help(l *line) string {
	if l.kind != kindQueue {
		return "no worker is alive: start one"
	}
	return "no worker of this queue is alive: start one, with a handler for the topic"
}

func nothingWaits(by map[string][]row) Check {
	if len(by) == 0 {
		return ok("waiting", "nothing is due")
	}
	return ok("waiting", "nothing has been due for long")
}

// bounded leaves out what is too much to list, the worst last to go.
func bounded(checks []Check) []Check {
	if len(checks) <= few {
		return checks
	}
	rank := map[Verdict]int{Fail: 0, Warn: 1, OK: 2}
	slices.SortStableFunc(checks, func(a, b Check) int { return cmp.Compare(rank[a.Verdict], rank[b.Verdict]) })
	rest := NewReport(checks[few:])
	return append(checks[:few:few], Check{Name: "waiting", Verdict: rest.Verdict, Text: fmt.Sprintf("and %d more queues", len(rest.Checks))})
}
