package check

import (
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkTimers = "a timer fires or is cancelled, never both"

// early is by how much the clocks of a process and of the database may differ.
const early = 100 * time.Millisecond

// timed is what is known of a timer.
type timed struct {
	due       int64 // 0: not known
	scheduled int64 // when that was known
	refused   bool  // a call that scheduled it failed
	unsure    bool
	cancelled int64 // when that was known
	cancels   int   // calls that may have cancelled it
	fired     int64 // when its message was first handled
	left      bool
}

// timerRule: a timer that was scheduled fires unless it was cancelled, and one that was
// cancelled never does.
func (r *run) timerRule() rule {
	timers := map[int32]*timed{}
	get := func(i int32) *timed {
		t := timers[i]
		if t == nil {
			t = &timed{}
			timers[i] = t
		}
		return t
	}
	return rule{
		name: checkTimers,
		event: func(s *step) {
			if s.message == nil {
				return
			}
			switch s.Op {
			case history.Timer:
				get(s.index).note(s)
			case history.Cancel:
				get(s.index).cancel(s)
			case history.Fire, history.Handle:
				if t := timers[s.index]; t != nil {
					r.fire(s, t)
				} else if s.Op == history.Fire {
					r.about(checkTimers, s.index, "", "it fires at %d, and nobody scheduled it", s.At)
				}
			}
		},
		end: func() {
			for _, f := range r.final.Timers {
				_, i := r.messages.get(f.ID)
				get(i).left = true
				if f.Due <= r.drainedAt {
					r.about(checkTimers, i, "", "it was due at %d and is still scheduled at the end", f.Due)
				}
			}
			for i, t := range timers {
				r.checkTimer(i, t)
			}
		},
	}
}

func (t *timed) note(s *step) {
	t.due = s.Nominal
	switch s.Outcome {
	case history.OK:
		t.scheduled = s.At
	case history.Failed:
		t.refused = true
	case history.Unknown:
		t.unsure = true
	case history.Began:
	}
}

func (t *timed) cancel(s *step) {
	switch s.Outcome {
	case history.Began:
		t.cancels++
	case history.OK:
		t.cancelled = s.At
	case history.Failed:
		t.cancels--
	case history.Unknown:
	}
}

func (r *run) fire(s *step, t *timed) {
	if t.fired == 0 || r.rewound(t.fired, s.At) {
		t.fired = s.At
	}
	if s.At < t.due-int64(early) && !r.stepped(0, s.At) {
		r.about(checkTimers, s.index, "", "it fires at %d, %v before it is due", s.At, time.Duration(t.due-s.At))
	}
	if t.refused && !t.unsure && t.scheduled == 0 {
		r.about(checkTimers, s.index, "", "it fires at %d, and the call that scheduled it failed", s.At)
	}
}

func (r *run) checkTimer(i int32, t *timed) {
	there := t.left || r.messages.at(i).state != Absent
	switch cancelled, fired := t.cancelled != 0, t.fired != 0; {
	case cancelled && fired:
		if !r.rewound(min(t.cancelled, t.fired), max(t.cancelled, t.fired)) {
			r.about(checkTimers, i, "", "it was cancelled, as was known at %d, and fired at %d", t.cancelled, t.fired)
		}
	case cancelled:
		if there && !r.lost(t.cancelled) {
			r.about(checkTimers, i, "", "it was cancelled, as was known at %d, and is still there", t.cancelled)
		}
	case t.scheduled != 0 && t.cancels == 0 && !fired && !there && !r.lost(t.scheduled):
		r.about(checkTimers, i, "", "it was scheduled, and neither fired nor is it there")
	}
}
