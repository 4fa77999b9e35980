package check

import "github.com/bravellian/pawl/torture/internal/history"

const (
	checkLost    = "what was committed is not lost"
	checkPhantom = "what was not committed does not exist"
)

// lostRule: a message whose row is in the ledger was finished or is still there, and a
// row that was committed is there unless the database was rewound.
func (r *run) lostRule() rule {
	return rule{
		name: checkLost,
		event: func(s *step) {
			if s.Op == history.Enqueue && s.message != nil {
				r.enqueue(s)
			}
			if s.message == nil {
				return
			}
			switch {
			case s.is(history.Ack, history.Began):
				s.message.set(acking)
			case s.Op == history.Timer:
				s.message.set(isTimer)
			case s.Op == history.Handle && s.Topic == history.JobTopic, s.Op == history.Run || s.Op == history.Wait || s.Op == history.Inbox || s.Op == history.Try:
				s.message.set(derived)
			}
		},
		end: func() { r.messages.each(r.checkLost) },
	}
}

// enqueue remembers what a producer knows of its transaction.
func (r *run) enqueue(s *step) {
	switch m := s.message; s.Outcome {
	case history.Began:
		if !m.has(announced) {
			m.enqueued = s.At
		}
		m.set(announced)
		if s.Topic == history.FlowTopic {
			m.set(isFlow)
		}
	case history.OK:
		m.set(enqueued)
		m.committed = s.At
	case history.Failed:
		m.set(rolledBack)
	default:
		m.set(unsure)
	}
}

func (r *run) checkLost(i int32, m *message) {
	over := m.has(handled) || m.finished != 0
	switch {
	case m.has(isTimer): // see timers
	case m.has(kept) && m.state == Done && !over && !m.has(acking|isFlow): // of flows see there
		r.about(checkLost, i, "", "it is done, and nobody handled it")
	case m.has(kept) && m.state == Absent && !over:
		r.about(checkLost, i, "", "its row is in the ledger, and it was neither handled nor is it in the database")
	case m.has(enqueued) && !m.has(kept) && r.lostWithin(m.enqueued, m.committed):
		r.report.LostByDatabase++
	case m.has(enqueued) && !m.has(kept):
		r.about(checkLost, i, "", "its commit succeeded, its row is not in the ledger, and the database was not rewound since")
	}
}

// phantomRule: what was rolled back, or what the ledger does not have, is neither in the
// database nor handled.
func (r *run) phantomRule() rule {
	return rule{
		name:  checkPhantom,
		event: func(*step) {},
		end:   func() { r.messages.each(r.checkPhantom) },
	}
}

func (r *run) checkPhantom(i int32, m *message) {
	never := m.has(rolledBack) && !m.has(enqueued|unsure)
	switch {
	case !m.has(announced):
		if !m.has(kept|isTimer|derived) && m.begins > 0 {
			r.about(checkPhantom, i, "", "a handler or claim got it, and nobody enqueued it")
		}
	case never && m.has(kept):
		r.about(checkPhantom, i, "", "its transaction was rolled back, and its row is in the ledger")
	case m.has(kept):
	case m.state != Absent:
		r.about(checkPhantom, i, "", "it is in the database (%s) without its row", m.state)
	case m.begins == 0:
	case never:
		r.about(checkPhantom, i, "", "its transaction was rolled back, and a handler or claim got it")
	case m.lastBegun != 0 && !r.lost(max(m.enqueued, m.lastBegun)):
		r.about(checkPhantom, i, "", "a handler or claim got it, its row is not in the ledger, and the database was not rewound since")
	}
}
