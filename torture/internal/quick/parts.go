package quick

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bravellian/pawl/torture/internal/quick/history"
)

// joins: counters are exact, and each wait sends one message, after all members.
func (c *checker) joins() {
	ended := c.firstEnds()
	members := map[string][]string{}
	for _, e := range c.byOp["member"] {
		if e.Outcome == history.Began {
			members[e.Name] = append(members[e.Name], e.Message)
		}
	}
	waits := map[string][]history.Event{}
	for _, e := range c.byOp["wait"] {
		waits[e.Name] = append(waits[e.Name], e)
	}
	ends := c.ends("join", ofName)
	for id, j := range c.Joins {
		if ends[id] == history.Failed {
			c.violation("join made up", "%s was rolled back", id)
		}
		if j.Status != 1 || j.Completed != j.Expected || j.Members != j.Expected || j.Failed != 0 || j.Expected != len(members[id]) {
			c.violation("join", "%s has %+v, of %d members", id, j, len(members[id]))
		}
		c.followUp(id, waits[id], members[id], ended)
	}
	for id := range waits {
		if ends[id] == history.Failed {
			c.violation("join made up", "%s was rolled back and has a follow-up", id)
		}
	}
}

// firstEnds is when messages were first handled.
func (c *checker) firstEnds() map[string]int64 {
	ended := map[string]int64{}
	for _, e := range c.byOp["handle"] {
		if e.Outcome == history.OK && ended[e.Message] == 0 {
			ended[e.Message] = e.At
		}
	}
	return ended
}

// followUp: a join sends one message, after all members ended.
func (c *checker) followUp(id string, fired []history.Event, members []string, ended map[string]int64) {
	if len(fired) == 0 {
		c.violation("join", "%s has no follow-up", id)
		return
	}
	first := fired[0]
	for _, w := range fired {
		if w.Message != first.Message && !c.rewound(first.At, w.At) {
			c.violation("join", "%s has follow-ups %s and %s", id, first.Message, w.Message)
		}
	}
	for _, m := range members {
		if at := ended[m]; (at == 0 || at > first.At) && !c.rewound(first.At, first.At) {
			c.violation("join", "%s: the follow-up ran at %d, member %s ended at %d", id, first.At, m, at)
		}
	}
}

// inbox: an effect is there once.
func (c *checker) inbox() {
	for id, n := range c.Effects {
		if n != 1 {
			c.violation("inbox", "%s has %d effects", id, n)
		}
	}
	for _, e := range c.byOp["inbox"] {
		if e.Outcome == history.OK && c.Effects[e.Name+"/"+e.Message] == 0 && !c.rewound(e.At-int64(10*time.Second), e.At) {
			c.violation("inbox", "%s/%s was processed by %s, and its effect is not there", e.Name, e.Message, e.Process)
		}
	}
}

// timers: a timer fires or is cancelled, and not before it is due.
func (c *checker) timers() {
	fired, due := map[string]int64{}, map[string]int64{}
	cancelled := c.ends("cancel", ofName)
	for _, e := range c.byOp["timer"] {
		due[e.Name] = e.Nominal
	}
	scheduled := c.ends("timer", ofName)
	for _, e := range c.byOp["fire"] {
		fired[e.Name] = e.At
		switch {
		case scheduled[e.Name] == history.Failed:
			c.violation("timer", "%s fired, and was rolled back", e.Name)
		case cancelled[e.Name] == history.OK && !c.rewound(e.At, e.At) && len(c.Rewinds) == 0:
			c.violation("timer", "%s fired, and was cancelled", e.Name)
		case e.At < due[e.Name]-int64(50*time.Millisecond):
			c.violation("timer", "%s fired %v early", e.Name, time.Duration(due[e.Name]-e.At))
		}
	}
	c.timersLeft(fired, cancelled)
}

// timersLeft: none is forgotten.
func (c *checker) timersLeft(fired map[string]int64, cancelled map[string]history.Outcome) {
	for _, e := range c.byOp["timer"] {
		if e.Outcome != history.OK || fired[e.Name] != 0 || c.rewound(e.At-int64(10*time.Second), e.At) {
			continue
		}
		if o := cancelled[e.Name]; o != history.OK && o != history.Unknown {
			c.violation("timer", "%s (%s) never fired", e.Name, c.Timers[e.Name])
		}
	}
	for id, status := range c.Timers {
		if status != "Done" && status != "Cancelled" {
			c.violation("timer", "%s is left as %s", id, status)
		}
	}
}

// leases: a token is given once, and guarded transactions commit in the order of tokens.
func (c *checker) leases() {
	given := map[string]string{}
	rows, committed, unknown := map[string]int{}, map[string]int{}, map[string]int{}
	id := func(name string, token int64) string { return name + "/" + strconv.FormatInt(token, 10) }
	for _, e := range c.byOp["acquire"] {
		if e.Outcome != history.OK {
			continue
		}
		if other, ok := given[id(e.Name, e.Token)]; ok {
			c.violation("lease", "token %d of %s was given to %s and %s", e.Token, e.Name, other, e.Process)
		}
		given[id(e.Name, e.Token)] = e.Process
	}
	last := map[string]int64{}
	for _, g := range c.Guards {
		rows[id(g.Name, g.Token)]++
		if g.Token < last[g.Name] {
			c.violation("lease", "token %d of %s committed after token %d", g.Token, g.Name, last[g.Name])
		}
		last[g.Name] = max(last[g.Name], g.Token)
	}
	for _, e := range c.byOp["guard"] {
		switch {
		case e.Outcome == history.Began:
			unknown[id(e.Name, e.Token)]++
		case e.Outcome == history.OK && !c.rewound(e.At-int64(10*time.Second), e.At):
			committed[id(e.Name, e.Token)]++
		case e.Outcome == history.Failed:
			unknown[id(e.Name, e.Token)]--
		}
	}
	for t, n := range rows {
		if n > unknown[t] {
			c.violation("lease", "%s has %d rows, and %d transactions", t, n, unknown[t])
		}
	}
	for t, n := range committed {
		if rows[t] < n {
			c.violation("lease", "%s has %d rows of %d committed transactions", t, rows[t], n)
		}
	}
}

// jobs: one run for each second, none twice.
func (c *checker) jobs() {
	messages := map[string]string{}
	for _, e := range c.byOp["run"] {
		k := fmt.Sprint(e.Name, e.Nominal)
		if other, ok := messages[k]; ok && other != e.Message && len(c.Rewinds) == 0 {
			c.violation("job", "%s at %d has messages %s and %s", e.Name, e.Nominal, other, e.Message)
		}
		messages[k] = e.Message
	}
	runs := slices.DeleteFunc(slices.Clone(c.Runs), func(r JobRun) bool { return r.Status == "Cancelled" })
	for i, r := range runs {
		if r.Status != "Succeeded" && r.Status != "Missed" {
			c.violation("job", "run of %s at %d is %s", r.Job, r.Nominal, r.Status)
		}
		if i == 0 || len(c.Rewinds) > 0 {
			continue
		}
		before := runs[i-1]
		if gap := r.Nominal - before.Nominal; gap != int64(time.Second)*max(1, before.Missed) {
			c.violation("job", "%s: %v between runs at %d and %d", r.Job, time.Duration(gap), before.Nominal, r.Nominal)
		}
	}
}
