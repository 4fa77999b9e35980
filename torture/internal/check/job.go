package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkJobs = "a nominal time has one run or is recorded as missed"

// nominal is a job's time.
type nominal struct {
	job string
	at  int64
}

// occasion is what is known of a nominal time.
type occasion struct {
	message  string // of the run that a handler got last
	handled  int64  // when
	records  int
	missed   int
	recorded string // the message of the record
}

// jobRule: a nominal time is handled by one message, and recorded once, as a run or as
// missed; no time of the schedule is left out.
func (r *run) jobRule() rule {
	times := map[nominal]*occasion{}
	get := func(job string, at int64) *occasion {
		o := times[nominal{job, at}]
		if o == nil {
			o = &occasion{}
			times[nominal{job, at}] = o
		}
		return o
	}
	return rule{
		name: checkJobs,
		event: func(s *step) {
			if s.Op != history.Run {
				return
			}
			o := get(s.Name, s.Nominal)
			if o.message != "" && s.Message != o.message && !r.rewound(o.handled, s.At) {
				r.violate(checkJobs, s.Message, s.Name, "it runs for %d at %d, as %s did at %d", s.Nominal, s.At, o.message, o.handled)
			}
			o.message, o.handled = s.Message, s.At
		},
		end: func() {
			for f := range all(r.final.Runs) {
				o := get(f.Job, f.Nominal)
				o.records++
				if f.Missed {
					o.missed++
				} else {
					o.recorded = f.Message
				}
			}
			for _, j := range r.final.Jobs {
				for at := j.From; at <= j.To && j.Every > 0; at += j.Every {
					get(j.Name, at)
				}
			}
			for n, o := range times {
				r.checkNominal(n, o)
			}
		},
	}
}

func (r *run) checkNominal(n nominal, o *occasion) {
	fail := func(format string, args ...any) {
		r.violate(checkJobs, "", n.job, format, append([]any{n.at}, args...)...)
	}
	ran := o.handled != 0
	switch {
	case o.records > 1:
		fail("its time %d is recorded %d times, %d of them as missed", o.records, o.missed)
	case o.records == 0 && !ran:
		fail("its time %d has no run and is not recorded as missed")
	case !ran && o.missed == 0 && !r.pending(o.recorded):
		fail("its time %d is recorded as a run that nobody handled")
	case !ran || r.lost(o.handled): // what a handler did before a rewind proves nothing
	case o.records == 0:
		fail("its time %d was handled, and is not recorded")
	case o.missed > 0:
		fail("its time %d is recorded as missed, and was handled")
	case o.recorded != "" && o.recorded != o.message:
		fail("its time %d is recorded with message %s, and was handled as %s", o.recorded, o.message)
	}
}

// pending reports whether a message is in the database, in whatever state: another check
// says what must become of it.
func (r *run) pending(id string) bool {
	if id == "" {
		return false
	}
	m, _ := r.messages.get(id)
	return m.state != Absent
}
