package check

import "github.com/bravellian/pawl/torture/internal/history"

const (
	checkExclusive = "one claim of a message at a time"
	checkLimits    = "limits are kept"
)

// held reports whether a process certainly holds a message at a time.
func (r *run) held(m *message, at int64) bool {
	return m.holder != 0 && m.until > at && !r.rewound(m.since, at) && !r.stepped(m.since, at)
}

// exclusiveRule: while one process holds a message under a lease that has not ended as it
// knows, nobody else gets it, and nobody else settles it. It keeps who holds a message.
func (r *run) exclusiveRule() rule {
	return rule{
		name: checkExclusive,
		event: func(s *step) {
			m := s.message
			switch {
			case m == nil:
			case s.begins():
				r.hold(s)
			case s.is(history.Extend, history.OK):
				r.extend(s)
			case s.is(history.Ack, history.OK) || s.is(history.Settled, history.OK) && s.Detail == history.Done:
				r.settledBy(s)
				r.release(s)
			case s.Op == history.Handle && m.holder == s.process:
				m.unset(handling)
				if !m.has(byClaim) {
					m.holder = 0
				}
			case s.Op == history.Settled:
				r.release(s)
			case (s.Op == history.Ack || s.Op == history.Abandon) && s.Outcome == history.Began:
				r.release(s) // it takes effect before its process knows
			}
		},
		end: func() {},
	}
}

func (r *run) release(s *step) {
	if s.message.holder == s.process {
		s.message.holder = 0
		s.message.unset(handling | byClaim)
	}
}

// hold is about a claim, or a handler that begins.
func (r *run) hold(s *step) {
	m, own := s.message, false
	if s.stale {
		return
	}
	if r.held(m, s.At) {
		// A process handles what it claimed; it neither handles nor claims it twice.
		own = m.holder == s.process && s.Op == history.Handle && !m.has(handling)
		if !own {
			r.about(checkExclusive, s.index, "", "%s of %s at %d, while %s holds it until %d",
				s.Op, s.Process, s.At, r.processes.all[m.holder].name, m.until)
		}
	}
	until := r.until(s)
	if own {
		until = max(until, m.until)
	} else {
		m.since = s.At
		m.unset(byClaim)
	}
	m.holder, m.until = s.process, until
	if s.Op == history.Claim {
		m.set(byClaim)
		m.unset(handling)
	} else {
		m.set(handling)
	}
}

func (r *run) extend(s *step) {
	m := s.message
	switch {
	case m.holder == s.process:
		m.until = max(m.until, s.Until)
	case s.Until > s.At && r.held(m, s.At):
		r.about(checkExclusive, s.index, "", "%s extends its claim at %d, while %s holds it until %d", s.Process, s.At, r.processes.all[m.holder].name, m.until)
	}
}

func (r *run) settledBy(s *step) {
	if m := s.message; m.holder != s.process && r.held(m, s.At) {
		r.about(checkExclusive, s.index, "", "%s finishes it at %d, while %s holds it until %d", s.Process, s.At, r.processes.all[m.holder].name, m.until)
	}
}

// limited is a topic with a limit.
type limited struct {
	most    int
	holding map[int32]bool
}

// limitRule: of a limited topic no more messages are held at once than its limit.
func (r *run) limitRule() rule {
	topics := map[string]*limited{}
	for topic, most := range r.final.Limits {
		topics[topic] = &limited{most, map[int32]bool{}}
	}
	return rule{
		name: checkLimits,
		event: func(s *step) {
			if s.stale || !s.begins() {
				return
			}
			if t := topics[s.Topic]; t != nil {
				r.limit(s, t)
			}
		},
		end: func() {},
	}
}

func (r *run) limit(s *step, t *limited) {
	for i := range t.holding {
		if !r.held(r.messages.at(i), s.At) {
			delete(t.holding, i)
		}
	}
	t.holding[s.index] = true
	if len(t.holding) > t.most {
		r.about(checkLimits, s.index, s.Topic, "%d messages are held at %d; the limit is %d", len(t.holding), s.At, t.most)
	}
}
