package check

import (
	"strconv"

	"github.com/bravellian/pawl/torture/internal/history"
)

const checkJoins = "a join counts each member once and fires once"

// joined is what is known of a join.
type joined struct {
	declared  int   // members, as its start says
	started   int64 // when its start was known to be committed
	members   []int32
	followUps map[int32]bool
	fired     int64   // when the last follow-up began
	again     int     // follow-ups beside another one, which no rewind explains
	early     []int32 // members that had not begun when the follow-up began
	row       *Join
}

// joinRule: the counters are those of the members' states, and exactly one follow-up
// comes, after each member began.
func (r *run) joinRule() rule {
	joins := map[string]*joined{}
	get := func(name string) *joined {
		j := joins[name]
		if j == nil {
			j = &joined{followUps: map[int32]bool{}}
			joins[name] = j
		}
		return j
	}
	return rule{
		name: checkJoins,
		event: func(s *step) {
			switch {
			case s.Op == history.Join:
				r.startJoin(s, get(s.Name))
			case s.Op == history.Member && s.message != nil && s.Outcome == history.OK:
				j := get(s.Name)
				j.members = append(j.members, s.index)
			case s.Op == history.Wait && s.message != nil && s.Outcome != history.Failed:
				r.followUp(s, get(s.Name))
			}
		},
		end: func() {
			for i := range r.final.Joins {
				row := &r.final.Joins[i]
				if j := get(row.Name); j.row != nil {
					r.violate(checkJoins, "", row.Name, "the database has it twice")
				} else {
					j.row = row
				}
			}
			for name, j := range joins {
				r.checkJoin(name, j)
			}
		},
	}
}

func (r *run) startJoin(s *step, j *joined) {
	if n, err := strconv.Atoi(s.Detail); err == nil {
		j.declared = n
	}
	if s.Outcome == history.OK {
		j.started = s.At
	}
}

func (r *run) followUp(s *step, j *joined) {
	if !j.followUps[s.index] && len(j.followUps) == 0 {
		for _, i := range j.members {
			if !r.messages.at(i).has(begun) {
				j.early = append(j.early, i)
			}
		}
	}
	if len(j.followUps) > 0 && !j.followUps[s.index] && !r.rewound(j.fired, s.At) {
		j.again++
	}
	j.followUps[s.index], j.fired = true, s.At
}

func (r *run) checkJoin(name string, j *joined) {
	fail := func(format string, args ...any) { r.violate(checkJoins, "", name, format, args...) }
	if j.again > 0 {
		fail("it has %d follow-ups", len(j.followUps))
	}
	for _, i := range j.early {
		// What fails without a handler has no begin: an expired message, for instance.
		if !r.messages.at(i).state.failed() {
			fail("its follow-up is handled before its member %s is", r.messages.name(i))
		}
	}
	if j.row == nil {
		if j.started != 0 && !r.lost(j.started) {
			fail("it was started, and the database does not have it")
		}
		return
	}
	r.checkCounters(name, j)
	switch {
	case j.row.Fired != 1:
		fail("it fired %d times", j.row.Fired)
	case len(j.followUps) == 0:
		fail("its follow-up was never handled")
	}
}

// checkCounters compares a join's row with its members.
func (r *run) checkCounters(name string, j *joined) {
	fail := func(format string, args ...any) { r.violate(checkJoins, "", name, format, args...) }
	done, failed := r.memberStates(j)
	switch {
	case j.row.Total != j.declared && j.declared != 0:
		fail("it has %d steps and was started with %d", j.row.Total, j.declared)
	case len(j.members) == 0 && j.row.Done+j.row.Failed == j.row.Total: // nobody wrote down its members
	case j.row.Done != done || j.row.Failed != failed:
		fail("it counts %d done and %d failed; of its members %d are done and %d failed", j.row.Done, j.row.Failed, done, failed)
	case j.row.Done+j.row.Failed != j.row.Total:
		fail("it counts %d of %d steps at the end", j.row.Done+j.row.Failed, j.row.Total)
	}
}

// memberStates counts members by how they ended: by the database, or, where their rows
// were deleted, by what processes know.
func (r *run) memberStates(j *joined) (done, failed int) {
	counted := map[int32]bool{}
	for _, i := range j.members {
		m := r.messages.at(i)
		gone := m.state == Absent
		switch {
		case counted[i]:
		case m.state.failed() || gone && m.has(gaveUp):
			failed++
		case m.state == Done || gone && m.has(handled):
			done++
		}
		counted[i] = true
	}
	return done, failed
}
