package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

// Violation is a promise that was broken.
type Violation struct {
	Check   string `json:"check"`
	Message string `json:"message,omitempty"` // its id
	Name    string `json:"name,omitempty"`    // of a lease, join, job, source, topic or key
	Text    string `json:"text"`
	// Events are the first and the last events of the message or name.
	Events []history.Event `json:"events,omitempty"`
}

// Result is what one check found.
type Result struct {
	Check      string      `json:"check"`
	Total      int         `json:"total"`                // all violations
	Violations []Violation `json:"violations,omitempty"` // the first of them
}

// Report is what a run did, and which promises were broken in it.
type Report struct {
	Processes      int            `json:"processes"`
	Events         int            `json:"events"`
	Messages       int            `json:"messages"` // that have an event or a row
	Handled        int            `json:"handled"`  // messages that a handler returned for without an error
	Redelivered    int            `json:"redelivered"`
	Torn           int            `json:"torn"`             // files that end within a line
	CutOff         int            `json:"cut_off"`          // operations without an outcome
	Stale          int            `json:"stale"`            // handlers and claims whose lease may have ended before they began
	Waited         time.Duration  `json:"waited"`           // the longest wait of what was due, beside faults
	LostByDatabase int            `json:"lost_by_database"` // rows that a failover or restore took away
	Kept           int            `json:"kept"`             // rows that the database has
	Flows          int            `json:"flows"`            // of these, flows
	Outcomes       map[string]int `json:"outcomes"`         // by operation and outcome
	Faults         map[string]int `json:"faults"`           // by kind
	Histories      int            `json:"histories"`        // of leases that were compared with the model
	Undecided      int            `json:"undecided"`        // of these, too expensive to decide
	Checks         []Result       `json:"checks"`
}

// OK reports whether no check found a violation.
func (r *Report) OK() bool { return r.Total() == 0 }

// Total returns the number of violations.
func (r *Report) Total() int {
	n := 0
	for _, c := range r.Checks {
		n += c.Total
	}
	return n
}

// Lost is how many messages were lost although their rows were kept, or kept without them.
func (r *Report) Lost() int { return r.found(checkLost, checkPhantom) }

// Twice is how many messages were given to two at once, or again after they were over, and what
// else is to happen once and came again.
func (r *Report) Twice() int {
	return r.found(checkExclusive, checkDone, checkTerminal, checkJoins, checkFlows, checkInbox, checkTimers, checkJobs, checkUnique)
}

// Tokens is how many fencing tokens processes got. Again is how many of them, or of what was
// written under them, came after a newer one.
func (r *Report) Tokens() (granted, again int) {
	return r.Outcomes[history.Acquire+" "+string(history.OK)], r.found(checkTokens, checkGuards, checkHistories)
}

// found counts the violations of some checks.
func (r *Report) found(checks ...string) (n int) {
	for _, c := range r.Checks {
		if slices.Contains(checks, c.Check) {
			n += c.Total
		}
	}
	return n
}

// Violations returns a line for each violation that is reported.
func (r *Report) Violations() (lines []string) {
	for _, c := range r.Checks {
		for _, v := range c.Violations {
			lines = append(lines, c.Check+": "+subject(v.Message, v.Name)+v.Text)
		}
		if more := c.Total - len(c.Violations); more > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d more", c.Check, more))
		}
	}
	return lines
}

// String returns the report for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events of %d processes, %d messages, %d handled, %d handled again\n", r.Events, r.Processes, r.Messages, r.Handled, r.Redelivered)
	fmt.Fprintf(&b, "operations: %s\n", counts(r.Outcomes))
	fmt.Fprintf(&b, "faults: %s\n", counts(r.Faults))
	fmt.Fprintf(&b, "%d operations cut off, %d files torn, %d handlers and claims begun late, %d rows lost by the database\n", r.CutOff, r.Torn, r.Stale, r.LostByDatabase)
	fmt.Fprintf(&b, "%d histories of leases compared, %d undecided; the longest wait beside faults was %v\n", r.Histories, r.Undecided, r.Waited)
	for _, c := range r.Checks {
		if c.Total == 0 {
			fmt.Fprintf(&b, "ok    %s\n", c.Check)
			continue
		}
		fmt.Fprintf(&b, "FAIL  %s: %d violations\n", c.Check, c.Total)
		for _, v := range c.Violations {
			fmt.Fprintf(&b, "      %s%s\n", subject(v.Message, v.Name), v.Text)
			for _, e := range v.Events {
				fmt.Fprintf(&b, "        %s\n", text(e))
			}
		}
	}
	return b.String()
}

func counts(m map[string]int) string {
	if len(m) == 0 {
		return "none"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

func subject(message, name string) string {
	switch {
	case message != "" && name != "":
		return fmt.Sprintf("message %s of %s: ", message, name)
	case message != "":
		return fmt.Sprintf("message %s: ", message)
	case name != "":
		return name + ": "
	}
	return ""
}

// text returns an event for people.
func text(e history.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s #%d %s %s", e.At, e.Process, e.Seq, e.Op, e.Outcome)
	for _, f := range []struct {
		name string
		n    int64
	}{{"place", e.Place}, {"attempt", int64(e.Attempt)}, {"token", e.Token}, {"nominal", e.Nominal}, {"until", e.Until}, {"expires", e.Expires}} {
		if f.n != 0 {
			fmt.Fprintf(&b, " %s=%d", f.name, f.n)
		}
	}
	for _, f := range [][2]string{{"message", e.Message}, {"key", e.Key}, {"topic", e.Topic}, {"name", e.Name}, {"detail", e.Detail}} {
		if f[1] != "" {
			fmt.Fprintf(&b, " %s=%s", f[0], f[1])
		}
	}
	return b.String()
}
