package check

import "github.com/bravellian/pawl/torture/internal/history"

const checkHistory = "the history is whole"

// operation is what is open between Began and an outcome.
type operation struct {
	process int32
	op      string
	subject string
}

// opened is how many operations of a kind are open, and since when. With several at
// once the outcomes cannot be told apart: the earliest begin is right for each.
type opened struct {
	n     int
	first int64
}

// historyRule: the numbers of a process's events have no gap, its time does not go back,
// and what took effect was announced. A file that lacks something would hide faults.
func (r *run) historyRule() rule {
	open := map[operation]opened{}
	return rule{
		name: checkHistory,
		event: func(s *step) {
			p := &r.processes.all[s.process]
			if s.Seq != p.seq+1 {
				r.violate(checkHistory, "", s.Process, "event %d follows event %d", s.Seq, p.seq)
			}
			if s.At < p.at {
				r.violate(checkHistory, "", s.Process, "event %d is earlier than the one before", s.Seq)
			}
			p.seq, p.at = s.Seq, max(p.at, s.At)
			if s.Op == history.Fault || s.Op == history.Phase {
				return
			}
			r.match(open, s)
		},
		end: func() {
			for _, o := range open {
				r.report.CutOff += o.n
			}
		},
	}
}

// match finds the Began of an outcome.
func (r *run) match(open map[operation]opened, s *step) {
	key := operation{s.process, s.Op, s.Message + "\x00" + s.Name}
	if s.Outcome == history.Began {
		o := open[key]
		if o.n == 0 {
			o.first = s.At
		}
		o.n++
		open[key] = o
		return
	}
	o := open[key]
	if o.n == 0 {
		if history.NeedsBegan(s.Op) {
			r.violate(checkHistory, s.Message, s.Name, "event %d of %s: %s %s without a begin", s.Seq, s.Process, s.Op, s.Outcome)
		}
		return
	}
	s.began = o.first
	if o.n--; o.n == 0 {
		delete(open, key)
	} else {
		open[key] = o
	}
}

// defects reports what is wrong with the files.
func (r *run) defects(d history.Defects) {
	r.report.Torn = d.Torn
	for _, text := range d.Broken {
		r.violate(checkHistory, "", "", "%s", text)
	}
}
