package check

import "github.com/bravellian/pawl/torture/internal/history"

const (
	checkDone     = "nothing is handled after it was done"
	checkTerminal = "what is over stays over"
	checkAttempts = "attempts are those of handlers"
	checkDrained  = "nothing is left at the end"
)

// doneRule: after a process knew that a message is done, no handler and no claim gets it.
func (r *run) doneRule() rule {
	return rule{
		name: checkDone,
		event: func(s *step) {
			if s.attempts() && !s.stale && r.over(s, false) {
				r.about(checkDone, s.index, "", "%s of %s at %d, after it was done at %d", s.Op, s.Process, s.At, s.message.finished)
			}
		},
		end: func() {},
	}
}

// over reports whether a message was finished, by a failure for good or as done, and the
// database was not rewound since.
func (r *run) over(s *step, failed bool) bool {
	m := s.message
	return m.finished != 0 && m.has(gaveUp) == failed && !r.rewound(m.finished, s.At)
}

// terminalRule: a message that is done or failed for good does not get another state,
// unless an operator redrives or discards it. It keeps when messages were finished.
func (r *run) terminalRule() rule {
	return rule{
		name: checkTerminal,
		event: func(s *step) {
			switch {
			case s.message == nil:
			case s.attempts() && !s.stale && r.over(s, true):
				r.about(checkTerminal, s.index, "", "%s of %s at %d, after it failed for good at %d", s.Op, s.Process, s.At, s.message.finished)
			case s.is(history.Ack, history.OK) || s.is(history.Settled, history.OK) && s.Detail == history.Done:
				r.finish(s, false)
			case s.is(history.Settled, history.OK) && s.Detail == history.GivenUp:
				r.finish(s, true)
			case s.Op == history.Redrive && s.Outcome != history.Failed:
				// Began, too: it takes effect before its process knows.
				if s.message.has(gaveUp) {
					s.message.finished = 0
					s.message.unset(gaveUp)
				}
			}
		},
		end: func() { r.messages.each(r.checkTerminal) },
	}
}

func (r *run) finish(s *step, failed bool) {
	m := s.message
	if r.stepped(s.At, s.At) {
		return // its lease may have been over
	}
	if r.over(s, !failed) {
		r.about(checkTerminal, s.index, "", "%s finishes it at %d in another way than it was at %d", s.Process, s.At, m.finished)
	}
	m.finished = s.At
	m.unset(gaveUp)
	if failed {
		m.set(gaveUp | everFailed)
	}
}

func (r *run) checkTerminal(i int32, m *message) {
	if m.finished == 0 || r.lost(m.finished) || m.state == Absent {
		return
	}
	right := m.state == Done
	if m.has(gaveUp) {
		right = m.state == Failed || m.state == Discarded
	}
	if !right {
		r.about(checkTerminal, i, "", "it is %s at the end, and was finished in another way at %d", m.state, m.finished)
	}
}

// attemptRule: no more attempts are counted than there were handlers, pawl's own included, and
// claims. A wait that is parked until its join has ended counts none.
func (r *run) attemptRule() rule {
	return rule{
		name:  checkAttempts,
		event: func(*step) {},
		end: func() {
			r.messages.each(func(i int32, m *message) {
				if m.attempts > 0 && m.begins == 0 {
					r.about(checkAttempts, i, "", "%d attempts are counted, and no handler ever ran", m.attempts)
				} else if int64(m.attempts) > int64(m.begins) {
					r.about(checkAttempts, i, "", "%d attempts are counted, of %d handlers and claims", m.attempts, m.begins)
				}
			})
		},
	}
}

// drainedRule: the run ended when nothing was left, and nothing was.
func (r *run) drainedRule() rule {
	return rule{
		name: checkDrained,
		event: func(s *step) {
			if s.Op == history.Phase && s.Detail == history.Drained && s.Outcome != history.Began {
				r.drainedAt = s.At
			}
		},
		end: func() {
			if r.drainedAt == 0 {
				r.violate(checkDrained, "", "", "the run ended before everything was handled")
			}
			r.messages.each(func(i int32, m *message) {
				if m.state != Absent && !m.state.terminal() {
					r.about(checkDrained, i, "", "it is %s at the end", m.state)
				}
			})
		},
	}
}
