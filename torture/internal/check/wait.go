package check

import (
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkWaits = "what is due begins soon"

// fault is a time in which at least one fault was on.
type fault struct{ from, to int64 }

// faulty is when faults were on.
type faulty struct {
	on  int // how many are
	all []fault
}

// note is about the begin or the end of a fault.
func (f *faulty) note(s *step) {
	switch {
	case s.Outcome == history.Began:
		if f.on == 0 {
			f.all = append(f.all, fault{s.At, 1 << 62})
		}
		f.on++
	case f.on > 0:
		if f.on--; f.on == 0 {
			f.all[len(f.all)-1].to = s.At
		}
	}
}

// within is how much of a time faults were on.
func (f *faulty) within(from, to int64) (sum int64) {
	for i := len(f.all) - 1; i >= 0 && f.all[i].to > from; i-- {
		sum += max(0, min(f.all[i].to, to)-max(f.all[i].from, from))
	}
	return sum
}

// waitRule: from when a message is due and committed, as its process knows, to its first handler
// or claim is no longer than a bound, and so is what a job's run is late by. Times in which a fault
// was on are left out.
func (r *run) waitRule() rule {
	due := map[int32]int64{} // of what has not begun
	var faults faulty
	waited := func(s *step, since int64) {
		d := time.Duration(s.At - since - faults.within(since, s.At))
		if r.report.Waited = max(r.report.Waited, d); r.final.Waits != 0 && d > r.final.Waits {
			r.about(checkWaits, s.index, s.Name, "it was due at %d and begins at %d in %s: it waited for %v beside faults", since, s.At, s.Process, d)
		}
	}
	return rule{
		name: checkWaits,
		event: func(s *step) {
			switch {
			case s.Op == history.Fault:
				faults.note(s)
			case s.message == nil:
			case (s.is(history.Enqueue, history.OK) || s.is(history.Timer, history.OK)) && !s.message.has(begun) && s.message.begins == 0:
				due[s.index] = max(s.At, s.Nominal)
			case s.is(history.Run, history.OK) && s.message.begins == 1:
				waited(s, s.Nominal)
			case s.attempts():
				if since, ok := due[s.index]; ok {
					delete(due, s.index)
					waited(s, since)
				}
			}
		},
		end: func() {},
	}
}
