package check

import (
	"fmt"
	"slices"

	"github.com/bravellian/pawl/torture/internal/history"
)

// result returns what a check found so far.
func (r *run) result(check string) *Result {
	found, ok := r.results[check]
	if !ok {
		found = &Result{Check: check}
		r.results[check] = found
	}
	return found
}

// violate reports a violation.
func (r *run) violate(check, message, name, format string, args ...any) {
	found := r.result(check)
	found.Total++
	if len(found.Violations) < r.final.Examples {
		found.Violations = append(found.Violations, Violation{Check: check, Message: message, Name: name, Text: fmt.Sprintf(format, args...)})
	}
}

// about reports a violation that is about a message of the table.
func (r *run) about(check string, index int32, name, format string, args ...any) {
	r.violate(check, r.messages.name(index), name, format, args...)
}

// most is how many events of each end explain a violation.
const most = 15

// explain reads the history again for the events of the violations that are reported. It
// costs as much as the first reading, but only where something is wrong; keeping the
// events of everybody would cost memory always.
func (r *run) explain(h History) error {
	wanted := map[string][]*Violation{}
	for i := range r.report.Checks {
		for j := range r.report.Checks[i].Violations {
			v := &r.report.Checks[i].Violations[j]
			switch {
			case v.Message != "":
				wanted["message "+v.Message] = append(wanted["message "+v.Message], v)
			case v.Name != "":
				wanted["name "+v.Name] = append(wanted["name "+v.Name], v)
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	_, err := h.Each(func(e *history.Event) error {
		seen := map[*Violation]bool{}
		for _, key := range []string{"message " + e.Message, "name " + e.Name, "name " + e.Key, "name " + e.Topic, "name " + e.Process} {
			for _, v := range wanted[key] {
				if !seen[v] {
					v.add(e)
				}
				seen[v] = true
			}
		}
		return nil
	})
	return err
}

// add keeps an event, as one of the first or in place of the oldest of the last.
func (v *Violation) add(e *history.Event) {
	if len(v.Events) == 2*most {
		v.Events = slices.Delete(v.Events, most, most+1)
	}
	v.Events = append(v.Events, *e)
}
