package checker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
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
type watch map[string]seen

type seen struct {
	first map[int64]op.HealthFirst // in line, by lane
	since time.Time                // the first look, or the last at which it had moved on
	moved bool
}

// look compares with the last look.
func (w watch) look(now time.Time, lines []inspect.Line) {
	before := maps.Clone(w)
	clear(w)
	for i := range lines {
		name := lines[i].Name()
		s, known := before[name]
		if !known {
			s.since = now
		}
		w[name] = s.look(now, lines[i].Firsts)
	}
}

func (s seen) look(now time.Time, firsts []op.HealthFirst) seen {
	here := map[int64]op.HealthFirst{}
	for _, f := range firsts {
		here[f.Lane] = f
	}
	for lane, was := range s.first {
		is, there := here[lane]
		if there && cmp.Or(cmp.Compare(is.At, was.At), cmp.Compare(is.ID, was.ID)) <= 0 { // the same, or one that came late to an earlier place
			here[lane] = was
		} else {
			s.since, s.moved = now, true
		}
	}
	s.first = here
	return s
}

// forgive begins anew: while the database is away nobody can claim, and all wait.
func (c *Checker) forgive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.waiting {
		c.waiting[name] = seen{s.first, time.Now(), false}
	}
}

// work is the checks of what could be claimed.
func (c *Checker) work(ctx context.Context, list listing) []health.Finding {
	lines, err := inspect.Waiting(ctx, c.cfg.DB, c.cfg.Queues, c.cfg.Waiting)
	c.mu.Lock()
	if err == nil {
		c.waiting.look(time.Now(), lines)
	}
	known := maps.Clone(c.waiting)
	c.mu.Unlock()
	return judged(ctx, lines, err, &c.cfg.Options, func(l *inspect.Line) health.Finding {
		s := known[l.Name()]
		quiet, seen := time.Since(s.since), s.moved
		if lately(l, c.cfg.Waiting) {
			quiet, seen = min(quiet, *l.Done), true
		}
		return c.judge(l, list, quiet, seen)
	})
}

// judge says what a line comes to of which nothing was claimed for a while; seen is
// false if it never was, as far as is known.
func (c *Checker) judge(l *inspect.Line, list listing, quiet time.Duration, seen bool) health.Finding {
	idle := fact("idle", seconds(quiet))
	switch o := &c.cfg.Options; {
	case quiet <= o.Waiting && seen:
		return finding(l, health.OK, ", and it is being worked on", "")
	case quiet <= o.Waiting:
		return finding(l, health.Warning, "; whether anybody claims cannot be told yet", "")
	case l.Held && quiet <= o.Busy:
		return finding(l, health.Warning, fmt.Sprintf("; nothing was claimed for %s, those who hold other messages of it may all be busy", engine.Span(quiet)), "", idle)
	case l.Held:
		return finding(l, health.Problem, fmt.Sprintf("; nothing was claimed for %s: the handlers of those who hold other messages of it hang, or are that slow", engine.Span(quiet)),
			"see what the handlers do; if they are that slow, set a longer pawl.Options.Health.Busy", idle)
	}
	who, next := nobody(l)
	if all, err := list(); err == nil {
		if n := len(servers(all, l)); n > 0 {
			who, next = fmt.Sprintf("%s %s alive and should", engine.Several(n, "worker"), are(int64(n))), "see what they log"
		}
	}
	return finding(l, health.Problem, fmt.Sprintf(", and nobody has claimed any for %s; %s", engine.Span(quiet), who), next, idle)
}
