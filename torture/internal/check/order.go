package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkOrder = "messages of a key come one at a time, in order"

// line is what is known of an ordering key.
type line struct {
	current int32 // the number of the message that began last, plus one
	begun   int64 // the greatest place that began
	handled int64 // the greatest place that was handled
	at      int64 // when one of them changed
}

// changed notes a change. What was before a rewind may come again, in its order.
func (l *line) changed(r *run, at int64) {
	if r.rewound(l.at, at) {
		l.begun, l.handled = 0, 0
	}
	l.at = at
}

// orderRule: the first handlers of a key's messages begin, and succeed, in the order of
// places, and none begins while another runs. A message whose commit nobody
// knew of has no certain place: it may have been committed later than its successor.
func (r *run) orderRule() rule {
	var lines []line
	keys := map[string]int32{}
	return rule{
		name: checkOrder,
		event: func(s *step) {
			m := s.message
			switch {
			case m == nil:
			case s.is(history.Enqueue, history.Began) && s.Key != "":
				n, ok := keys[s.Key]
				if !ok {
					lines = append(lines, line{})
					n = int32(len(lines))
					keys[s.Key] = n
				}
				m.key, m.place = n, s.Place
			case m.key == 0 || m.has(unsure) || !m.has(enqueued):
			case s.is(history.Handle, history.Began) && !s.stale:
				r.ordered(s, &lines[m.key-1])
			case s.is(history.Handle, history.OK) && m.holder == s.process && r.held(m, s.At):
				r.handledInOrder(s, &lines[m.key-1])
			}
		},
		end: func() {},
	}
}

func (r *run) ordered(s *step, l *line) {
	l.changed(r, s.At)
	if l.current != 0 && l.current != s.index+1 {
		if other := r.messages.at(l.current - 1); other.has(handling) && r.held(other, s.At) {
			r.about(checkOrder, s.index, s.Key, "a handler of place %d begins at %d, while one of place %d runs", s.message.place, s.At, other.place)
		}
	}
	if !s.message.has(begun) && s.message.place < l.begun {
		r.about(checkOrder, s.index, s.Key, "place %d begins first at %d, after place %d", s.message.place, s.At, l.begun)
	}
	l.current, l.begun = s.index+1, max(l.begun, s.message.place)
}

func (r *run) handledInOrder(s *step, l *line) {
	l.changed(r, s.At)
	m := s.message
	if !m.has(handled|everFailed) && m.place < l.handled {
		r.about(checkOrder, s.index, s.Key, "place %d is handled first at %d, after place %d", m.place, s.At, l.handled)
	}
	l.handled = max(l.handled, m.place)
}
