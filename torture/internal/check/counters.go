package check

import (
	"strings"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkCounters = "no message is counted twice as done, and none is missing unless a process was ended"

// countersRule: the workers' counters of what is done agree with what is done. A process that ends
// without the database takes with it what it had not written; a history that was rewound, or a clock
// that was stepped, leaves nothing to compare.
func (r *run) countersRule() rule {
	ended := false
	return rule{
		name: checkCounters,
		event: func(s *step) {
			if s.is(history.Fault, history.Began) && s.Detail != history.Stop && s.Detail != history.StopBriefly && !strings.HasPrefix(s.Detail, "cut") {
				ended = true
			}
		},
		end: func() {
			if r.final.Counted == nil || len(r.final.Rewinds) > 0 || len(r.final.Steps) > 0 {
				return
			}
			var done int64
			r.messages.each(func(_ int32, m *message) {
				if m.state == Done {
					done++
				}
			})
			if counted := *r.final.Counted; counted > done || counted < done && !ended {
				r.violate(checkCounters, "", "", "%d messages are counted, %d are done", counted, done)
			}
		},
	}
}
