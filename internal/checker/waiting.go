package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/health"
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
func (c *Checker) work(ctx context.Context) []health.Finding {
	by, err := lineup(ctx, c.cfg.DB, &c.cfg.Options)
	if err != nil {
		return []health.Finding{problem("waiting", "what waits could not be looked up: "+cause(ctx, err, 0), "")}
	}
	c.mu.Lock()
	c.waiting.look(time.Now(), by)
	idle, moved := map[string]time.Duration{}, map[string]bool{}
	for name, s := range c.waiting {
		idle[name], moved[name] = time.Since(s.since), s.moved
	}
	c.mu.Unlock()
	late, known, failure := overdueSigns(ctx, c.cfg.DB, by, &c.cfg.Options)
	switch {
	case failure != nil:
		return []health.Finding{*failure}
	case len(late) == 0:
		return []health.Finding{nothingWaits(by)}
	}
	var found []health.Finding
	for i := range late {
		l, s := &late[i], known[late[i].name]
		quiet, seen := idle[l.name], moved[l.name]
		if s.done != nil && *s.done <= c.cfg.Waiting {
			quiet, seen = min(quiet, *s.done), true
		}
		found = append(found, c.judge(ctx, l, s.held, quiet, seen))
	}
	return bounded(found)
}

// judge says what a line comes to of which nothing was claimed for a while; seen is
// false if it never was, as far as is known.
func (c *Checker) judge(ctx context.Context, l *line, held bool, quiet time.Duration, seen bool) health.Finding {
	idle := fact("idle", seconds(quiet))
	switch o := &c.cfg.Options; {
	case quiet <= o.Waiting && seen:
		return l.finding(health.OK, ", and it is being worked on", "")
	case quiet <= o.Waiting:
		return l.finding(health.Warning, "; whether anybody claims cannot be told yet", "")
	case held && quiet <= o.Busy:
		return l.finding(health.Warning, fmt.Sprintf("; nothing was claimed for %s, those who hold other messages of it may all be busy", span(quiet)), "", idle)
	case held:
		return l.finding(health.Problem, fmt.Sprintf("; nothing was claimed for %s: the handlers of those who hold other messages of it hang, or are that slow", span(quiet)),
			"see what the handlers do; if they are that slow, set a longer pawl.Options.Health.Busy", idle)
	}
	who, next := c.advice(ctx, l)
	return l.finding(health.Problem, fmt.Sprintf(", and nobody has claimed any for %s; %s", span(quiet), who), next, idle)
}

// advice returns who should serve a line that nobody serves, and what helps.
func (c *Checker) advice(ctx context.Context, l *line) (who, next string) {
	if c.cfg.Workers != nil {
		if all, err := c.cfg.Workers.List(ctx); err == nil {
			if n := int64(len(servers(all, l))); n > 0 {
				return fmt.Sprintf("%s %s alive and should", several(n, false, "worker"), are(n)), "see what they log"
			}
		}
	}
	return unserved(l), startOne(l)
}

func unserved(l *line) string {
	if l.kind != kindQueue {
		return "no worker is alive"
	}
	return "no worker of this queue is alive"
}

func startOne(l *line) string {
	if l.kind != kindQueue {
		return "start a worker"
	}
	return "start a worker of the queue, with a handler for the topic"
}

func nothingWaits(by map[string][]row) health.Finding {
	if len(by) == 0 {
		return ok("waiting", "nothing is due")
	}
	return ok("waiting", "nothing has been due for long")
}

// bounded leaves out what is too much to list, the worst last to go.
func bounded(found []health.Finding) []health.Finding {
	if len(found) <= few {
		return found
	}
	slices.SortStableFunc(found, func(a, b health.Finding) int { return cmp.Compare(b.Level, a.Level) })
	rest := health.NewReport(found[few:])
	return append(found[:few:few], health.Finding{Code: "waiting", Level: rest.Level, Summary: fmt.Sprintf("and %d more queues", len(rest.Findings))})
}
