package checker

import (
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// judge says what a loop's status comes to. It has been running, as part of Run,
// since began.
type judge func(c *Checker, v *worker.LoopStatus, began time.Time) health.Finding

// loops returns a finding for each loop, if there are any to be judged.
func (c *Checker) loops(j judge) []health.Finding {
	if c.cfg.LoopStatus == nil || c.cfg.Life == nil {
		return nil
	}
	phase, began := c.cfg.Life.Phase()
	if phase != Running { // loops that end are what is wanted
		return []health.Finding{ok("loop", "no loops have to run: this process is "+string(phase))}
	}
	var found []health.Finding
	for _, v := range c.cfg.LoopStatus() {
		f := j(c, &v, began)
		f.Facts = append(f.Facts, fact("failures", v.Failures))
		found = append(found, f)
	}
	return found
}

const restart = "restart this process"

// checkLife reports whether a loop iterates. One that has not begun yet is given time, as
// is one that iterated late.
func checkLife(c *Checker, v *worker.LoopStatus, began time.Time) health.Finding {
	code := "loop/" + v.Name
	late := time.Since(v.NextTurn)
	switch {
	case !v.Running && v.LastTurn.IsZero() && time.Since(began) < c.cfg.Stalled:
		return ok(code, "is about to begin")
	case !v.Running && v.LastTurn.IsZero():
		return problem(code, fmt.Sprintf("has not begun, although Run was called %s ago", engine.Span(time.Since(began))), restart)
	case !v.Running && c.cfg.Ends:
		return ok(code, "ended, because nothing was left")
	case !v.Running:
		return problem(code, fmt.Sprintf("ended %s ago, although Run is not over", engine.Span(time.Since(v.LastTurn))), restart)
	case late > c.cfg.Stalled:
		return problem(code, fmt.Sprintf("hangs: it last iterated %s ago and should have again %s ago", engine.Span(time.Since(v.LastTurn)), engine.Span(late)), restart,
			fact("late", seconds(late)))
	}
	return ok(code, "iterated "+engine.Span(time.Since(v.LastTurn))+" ago", fact("last_turn", seconds(time.Since(v.LastTurn))))
}

// enough is how many failures in a row are no accident, also of loops that try
// every ten minutes.
const enough = 3

// checkWork also reports whether what a loop asks of the database succeeds. That
// it asks nothing for long is no fault: its handlers may all be busy.
func checkWork(c *Checker, v *worker.LoopStatus, began time.Time) health.Finding {
	f := checkLife(c, v, began)
	if !v.LastSuccess.IsZero() {
		f.Facts = append(f.Facts, fact("last_success", seconds(time.Since(v.LastSuccess))))
	}
	if f.Level != health.OK || v.Failures == 0 {
		return f
	}
	since, word := v.LastSuccess, "last success"
	if since.Before(began) {
		since, word = began, "no success since it began"
	}
	f.Summary = fmt.Sprintf("failed %s in a row, %s %s ago: %s", engine.Several(v.Failures, "time"), word, engine.Span(time.Since(since)), v.Error)
	f.Level = health.Warning
	if v.Failures >= enough && time.Since(since) > c.cfg.Failing {
		f.Level = health.Problem
	}
	return f
}
