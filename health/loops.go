package health

import (
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// judge says what a loop's status come to. It has been running, as part of Run,
// since began.
type judge func(c *Checker, v *worker.LoopStatus, began time.Time) Check

// loops is a check for each loop, if there are any to be judged.
func (c *Checker) loops(j judge) []Check {
	if c.cfg.LoopStatus == nil || c.cfg.Life == nil {
		return nil
	}
	phase, began := c.cfg.Life.Phase()
	if phase != Running { // loops that end are what is wanted
		return []Check{ok("loop", "no loops have to go round: this process is "+string(phase))}
	}
	var checks []Check
	for _, v := range c.cfg.LoopStatus() {
		checks = append(checks, j(c, &v, began).with("failures", v.Failures))
	}
	return checks
}

// checkLife reports whether a loop iterates. One that has not begun yet is given time, as
// is one that iterated late.
func checkLife(c *Checker, v *worker.LoopStatus, began time.Time) Check {
	name := "loop/" + v.Name
	late := time.Since(v.NextTurn)
	switch {
	case !v.Running && v.LastTurn.IsZero() && time.Since(began) < c.cfg.Stalled:
		return ok(name, "is about to begin")
	case !v.Running && v.LastTurn.IsZero():
		return fail(name, fmt.Sprintf("has not begun, although Run was called %s ago; restart this process", span(time.Since(began))))
	case !v.Running && c.cfg.Ends:
		return ok(name, "came to its end")
	case !v.Running:
		return fail(name, fmt.Sprintf("ended %s ago, although Run is not over; restart this process", span(time.Since(v.LastTurn))))
	case late > c.cfg.Stalled:
		return fail(name, fmt.Sprintf("hangs: it last went round %s ago and should have again %s ago", span(time.Since(v.LastTurn)), span(late))).
			with("late", seconds(late))
	}
	return ok(name, "went round "+span(time.Since(v.LastTurn))+" ago").with("last_turn", seconds(time.Since(v.LastTurn)))
}

// enough is how many failures in a row are no accident, also of loops that try
// every ten minutes.
const enough = 3

// checkWork also reports whether what a loop asks of the database succeeds. That
// it asks nothing for long is no fault: its handlers may all be busy.
func checkWork(c *Checker, v *worker.LoopStatus, began time.Time) Check {
	check := checkLife(c, v, began)
	if !v.LastSuccess.IsZero() {
		check = check.with("last_success", seconds(time.Since(v.LastSuccess)))
	}
	if check.Verdict != OK || v.Failures == 0 {
		return check
	}
	since, word := v.LastSuccess, "last success"
	if since.Before(began) {
		since, word = began, "no success since it began"
	}
	check.Text = fmt.Sprintf("failed %s in a row, %s %s ago: %s", several(int64(v.Failures), false, "time"), word, span(time.Since(since)), v.Error)
	check.Verdict = Warn
	if v.Failures >= enough && time.Since(since) > c.cfg.Failing {
		check.Verdict = Fail
	}
	return check
}
