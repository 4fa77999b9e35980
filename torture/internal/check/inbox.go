package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkInbox = "an effect of the inbox is there once"

// once is what is known of a message of the inbox.
type once struct {
	asked bool
	known int64 // when a process knew that the effect is committed
	count int
	last  string // the message's id, for the report
}

// inboxRule: each effect is there at most once, those that a process knows of are there
// unless the database was rewound, and none is there that nobody asked for.
func (r *run) inboxRule() rule {
	effects := map[[16]byte]*once{}
	get := func(source, message string) *once {
		key := hash(source + "\x00" + message)
		o := effects[key]
		if o == nil {
			o = &once{last: message}
			effects[key] = o
		}
		return o
	}
	return rule{
		name: checkInbox,
		event: func(s *step) {
			if s.Op != history.Inbox {
				return
			}
			o := get(s.Name, s.Message)
			o.asked = true
			if s.Outcome == history.OK {
				o.known = s.At
			}
		},
		end: func() {
			for e := range all(r.final.Effects) {
				o := get(e.Source, e.Message)
				o.count += e.Count
				if !o.asked {
					r.violate(checkInbox, e.Message, e.Source, "its effect is there, and nobody called Once")
				}
			}
			for _, o := range effects {
				switch {
				case o.count > 1:
					r.violate(checkInbox, o.last, "", "its effect is there %d times", o.count)
				case o.count == 0 && o.known != 0 && !r.lost(o.known):
					r.violate(checkInbox, o.last, "", "Once succeeded, and its effect is not there")
				}
			}
		},
	}
}
