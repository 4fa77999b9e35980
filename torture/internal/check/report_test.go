package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bravellian/pawl/torture/internal/history"
)

// A report counts all violations, shows some, each with the events of its message, as text and
// as JSON.
func TestReport(t *testing.T) {
	tape := newTape()
	tape.final.Examples = 2
	tape.commits("lost-1", "lost-2", "lost-3", "a").done("a")
	tape.add("n", history.Fault, history.Began, history.Event{Detail: "kill", Name: "w"})
	report := tape.check(t)
	if report.OK() || report.Total() != 3 || report.Messages != 4 || report.Handled != 1 || report.Faults["kill"] != 1 {
		t.Errorf("%+v", report)
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(encoded, &again); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Report{report, &again} {
		for _, c := range r.Checks {
			if c.Check != checkLost {
				continue
			}
			if c.Total != 3 || len(c.Violations) != 2 {
				t.Fatalf("%d violations, %d shown", c.Total, len(c.Violations))
			}
			for _, v := range c.Violations {
				if len(v.Events) != 2 || v.Events[0].Message != v.Message || v.Events[1].Outcome != history.OK {
					t.Errorf("%s is explained by %v", v.Message, v.Events)
				}
			}
		}
	}
	text := report.String()
	for _, want := range []string{
		"FAIL  " + checkLost + ": 3 violations", "ok    " + checkPhantom, "message lost-1: its row is in the ledger", "p #1 enqueue began message=lost-1", "4 messages",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Of many events the first and the last explain a violation.
func TestManyEvents(t *testing.T) {
	tape := newTape().commits("a")
	const n = 100
	for range n {
		tape.both("w", history.Handle, history.Failed, msg("a"))
	}
	report := tape.check(t)
	for _, c := range report.Checks {
		for _, v := range c.Violations {
			if last := v.Events[len(v.Events)-1]; len(v.Events) != 2*most || v.Events[0].Op != history.Enqueue || last.Seq != 2*n {
				t.Errorf("%d events, the last is %+v", len(v.Events), last)
			}
		}
	}
	if report.Total() != 1 {
		t.Errorf("%d violations", report.Total())
	}
}
