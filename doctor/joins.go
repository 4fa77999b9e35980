package doctor

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/join"
)

const (
	// joinPage is how many joins are looked at in one statement.
	joinPage = 100
	// joinPages is how many pages of each status are looked at where nothing is to
	// be mended.
	joinPages = 10
	// joinMembers is how many members a join may have to be judged: those of larger
	// ones are not counted.
	joinMembers = 10_000
	// joinMissed is how many members are counted in one transaction.
	joinMissed = 1000
)

// joinCount is what a join and its members say.
type joinCount struct {
	id                                     [16]byte
	status                                 join.Status
	expected, completed, failed            int64
	members, memberCompleted, memberFailed int64
	missed                                 int64 // settled and not counted
}

func (j *joinCount) large() bool { return j.members >= joinMembers }

// agrees reports whether the counters are what the members say.
func (j *joinCount) agrees() bool {
	return j.completed == j.memberCompleted && j.failed == j.memberFailed && j.missed == 0 && (j.status != join.Pending || j.completed+j.failed < j.expected)
}

// fixable reports whether the members can be right.
func (j *joinCount) fixable() bool { return j.memberCompleted+j.memberFailed <= j.expected }

func (j *joinCount) String() string {
	text := fmt.Sprintf("%s (%s) counts %d completed and %d failed of %d, its members %d and %d", join.ID(j.id), j.status, j.completed, j.failed, j.expected, j.memberCompleted, j.memberFailed)
	if j.missed > 0 {
		text += fmt.Sprintf(", and %d more are over", j.missed)
	}
	return text
}

// joinTally is what came of looking at joins.
type joinTally struct {
	looked, large int64
	wrong, fixed  []string // what some of them say
	wrongs, fixes int
	hopeless      int // of wrongs: more members count than there are steps
}

// joins compares the joins' counters with their members, and mends them if asked to.
func (e *examination) joins(ctx context.Context) ([]Finding, error) {
	var sum joinTally
	for _, status := range []join.Status{join.Pending, join.Completed, join.Failed, join.Cancelled} {
		if err := e.joinsOf(ctx, status, &sum); err != nil {
			return sum.findings(), err
		}
	}
	if sum.fixes > 0 {
		if err := e.db.Do(ctx, audit.New(ctx, "counters of joins").Call(audit.Fix, int64(sum.fixes))); err != nil {
			return sum.findings(), err
		}
	}
	if found := sum.findings(); found != nil {
		return found, nil
	}
	return one("joins", engine.OK, fmt.Sprintf("%d joins agree with their members", sum.looked), ""), nil
}

// joinsOf looks at the joins of one status, newest first.
func (e *examination) joinsOf(ctx context.Context, status join.Status, sum *joinTally) error {
	below := [16]byte(bytes.Repeat([]byte{0xff}, 16))
	for page := 0; e.opts.Fix || page < joinPages; page++ {
		list, err := e.joinPage(ctx, status, below)
		if err != nil {
			return err
		}
		for i := range list {
			if err := e.judge(ctx, &list[i], sum); err != nil {
				return err
			}
		}
		if len(list) < joinPage {
			return nil
		}
		below = list[len(list)-1].id
	}
	return nil
}

func (e *examination) joinPage(ctx context.Context, status join.Status, below [16]byte) (list []joinCount, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	err = e.db.Read(ctx, &engine.Call{
		Op: "doctor/joins", Args: []any{below, int(status), joinPage, joinMembers}, Reset: func() { list = nil },
		Each: func(r engine.Row) error {
			j := joinCount{status: status}
			err := r.Scan(&j.id, &j.expected, &j.completed, &j.failed, &j.members, &j.memberCompleted, &j.memberFailed, &j.missed)
			list = append(list, j)
			return err
		},
	})
	return list, err
}

// judge adds a join to what is known, and mends it if it is to be.
func (e *examination) judge(ctx context.Context, j *joinCount, sum *joinTally) error {
	sum.looked++
	if j.large() {
		sum.large++
		return nil
	}
	if j.agrees() {
		return nil
	}
	if e.opts.Fix && j.fixable() {
		changed, err := e.mend(ctx, j)
		if changed {
			sum.fixes++
			sum.fixed = mention(sum.fixed, j)
		}
		return err
	}
	sum.wrongs++
	sum.wrong = mention(sum.wrong, j)
	if !j.fixable() {
		sum.hopeless++
	}
	return nil
}

func mention(list []string, j *joinCount) []string {
	if len(list) < mentioned {
		list = append(list, j.String())
	}
	return list
}

// mend sets a join's counters to what its members say, and then counts those whose
// messages are over. Both find out for themselves under the join's lock: what was
// seen before may have changed. The second takes the locks of messages first, so
// the two are transactions of their own (docs/joins.md). It reports whether there
// was still something to mend.
func (e *examination) mend(ctx context.Context, j *joinCount) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	recount := engine.Count("doctor/join_recount", j.id)
	if err := e.db.Do(ctx, &engine.Call{Op: "doctor/join_lock", Args: []any{j.id}}, recount); err != nil {
		return false, err
	}
	changed = recount.N > 0
	for left := j.missed; left > 0; {
		positions, messages, err := e.missed(ctx, j.id)
		if err != nil || len(positions) == 0 { // others counted them, or it is over
			return changed, err
		}
		err = e.db.Do(ctx, &engine.Call{Op: "doctor/join_hold", Args: []any{positions}},
			&engine.Call{Op: "doctor/join_settle", Args: []any{j.id, positions, messages}})
		if err != nil {
			return changed, err
		}
		changed, left = true, left-int64(len(positions))
	}
	return changed, nil
}

// missed are members of a pending join whose messages are over.
func (e *examination) missed(ctx context.Context, id [16]byte) (positions []int64, messages [][16]byte, err error) {
	err = e.db.Read(ctx, &engine.Call{
		Op: "doctor/join_missed", Args: []any{id, joinMissed}, Reset: func() { positions, messages = nil, nil },
		Each: func(r engine.Row) error {
			var position int64
			var message [16]byte
			err := r.Scan(&position, &message)
			positions, messages = append(positions, position), append(messages, message)
			return err
		},
	})
	return positions, messages, err
}

// findings says what came of it; nothing is good news.
func (s *joinTally) findings() []Finding {
	var found []Finding
	if s.fixes > 0 {
		found = append(found, one("joins", engine.Note, fmt.Sprintf("mended %d joins: %s", s.fixes, listed(s.fixed, s.fixes)), "")...)
	}
	if s.wrongs > 0 {
		f := one("joins", engine.Problem, fmt.Sprintf("%d of %d joins disagree with their members: %s", s.wrongs, s.looked, listed(s.wrong, s.wrongs)), "Run: pawl doctor --fix")
		if s.hopeless == s.wrongs {
			f[0].NextStep = "More members count than there are steps: one of the tables was changed by hand. Cancel the join: pawl joins cancel ID"
		}
		f[0].Fixable = s.hopeless < s.wrongs
		found = append(found, f...)
	}
	if s.large > 0 {
		found = append(found, one("joins", engine.Note, fmt.Sprintf("%d joins have %d members or more and were not counted", s.large, joinMembers), "")...)
	}
	return found
}
