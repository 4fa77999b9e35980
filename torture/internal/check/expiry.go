package check

import (
	"strings"
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkExpiry = "nothing begins after it expired, or expires without that"

// slow is how long after pawl last read the clock a handler may write that it begins: a
// process does not always run.
const slow = 100 * time.Millisecond

// expiryRule: no handler begins after the message's expiry, no claim that was asked for after it
// gets the message, and what has expired in the end was to expire. Messages expire by the
// database's clock, so nothing follows once that was stepped.
func (r *run) expiryRule() rule {
	expires := map[int32]int64{}
	stepped := false
	return rule{
		name: checkExpiry,
		event: func(s *step) {
			switch {
			case s.is(history.Fault, history.Began):
				stepped = stepped || strings.HasPrefix(s.Detail, "clock-")
			case s.message == nil || stepped:
			case s.Op == history.Enqueue && s.Expires != 0:
				expires[s.index] = s.Expires
			case s.begins() && !s.stale:
				if at := expires[s.index]; at != 0 && r.asked(s) > at {
					r.about(checkExpiry, s.index, "", "%s of %s at %d, %v after it expired", s.Op, s.Process, s.At, time.Duration(s.At-at))
				}
			}
		},
		end: func() {
			r.messages.each(func(i int32, m *message) {
				if at := expires[i]; m.state == Expired && !stepped && (at == 0 || at > r.drainedAt && r.drainedAt != 0) {
					r.about(checkExpiry, i, "", "it has expired; its expiry is %d", at)
				}
			})
		},
	}
}

// asked is a time at which what begins cannot have been handed out later than: of a claim when it was asked
// for, of a handler shortly before it begins.
func (r *run) asked(s *step) int64 {
	if s.Op == history.Claim {
		return s.Until - int64(r.final.Lease)
	}
	return s.At - int64(slow)
}
