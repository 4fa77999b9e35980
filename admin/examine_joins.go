package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/joincheck"
	"github.com/bravellian/pawl/join"
)

const (
	// joinPage is how many joins are read by one statement.
	joinPage = 100
	// joinPages is how many pages of each status are read without Fix.
	joinPages = 10
	// parkedPage is how many parked waits are read by one statement.
	parkedPage = 1000
	// parkedPages is how many pages of them are read without Fix.
	parkedPages = 10
)

// described returns what a join and its members count.
func described(j *joincheck.Join) string {
	text := fmt.Sprintf("%s (%s) counts %d completed and %d failed of %d, its members %d and %d",
		join.ID(j.ID), op.JoinStatuses().Word(int64(j.Status)), j.Completed, j.Failed, j.Expected, j.MemberCompleted, j.MemberFailed)
	if j.Missed > 0 {
		text += fmt.Sprintf(", and %d more are over", j.Missed)
	}
	return text
}

// joinTally sums up what was found of joins.
type joinTally struct {
	read, large  int64
	wrong, fixed mentions
	hopeless     int      // of those that are wrong: more members count than there are steps
	parked       mentions // are over, and their waits are parked
	fix          bool
	check        joincheck.Check
}

// checkJoins compares the joins' counters with their members, finds waits of joins that
// are over and that nobody woke, and repairs both with Fix.
func (e *examination) checkJoins(ctx context.Context) ([]health.Finding, error) {
	sum := joinTally{fix: e.opts.Fix, check: joincheck.Check{DB: e.db, Timeout: e.opts.Timeout, Note: audit.New(ctx, "counters of joins")}}
	for status := range op.JoinStatuses() {
		if err := e.checkJoinsOf(ctx, status, &sum); err != nil {
			return sum.findings(), err
		}
	}
	if err := e.checkParked(ctx, &sum); err != nil {
		return sum.findings(), err
	}
	return engine.OrOK(sum.findings(), fmt.Sprintf("%d joins agree with their members", sum.read)), nil
}

// checkJoinsOf checks the joins of one status, newest first.
func (e *examination) checkJoinsOf(ctx context.Context, status int, sum *joinTally) error {
	below := joincheck.Above()
	for page := 0; e.opts.Fix || page < joinPages; page++ {
		list, err := sum.check.Page(ctx, status, below, joinPage)
		if err != nil {
			return err
		}
		for i := range list {
			if err := e.checkJoin(ctx, &list[i], sum); err != nil {
				return err
			}
		}
		if len(list) < joinPage {
			return nil
		}
		below = list[len(list)-1].ID
	}
	return nil
}

// checkJoin adds a join to the tally and, with Fix, repairs it.
func (e *examination) checkJoin(ctx context.Context, j *joincheck.Join, sum *joinTally) error {
	sum.read++
	if j.Truncated {
		sum.large++
		return nil
	}
	if j.Agrees() {
		return nil
	}
	if e.opts.Fix && j.Fixable() {
		changed, err := sum.check.Repair(ctx, j)
		if changed {
			sum.fixed.add(described(j))
		}
		return err
	}
	sum.wrong.add(described(j))
	if !j.Fixable() {
		sum.hopeless++
	}
	return nil
}

// checkParked finds joins that are over and whose waits nobody woke, and wakes them with
// Fix.
func (e *examination) checkParked(ctx context.Context, sum *joinTally) error {
	var after int64
	for page := 0; e.opts.Fix || page < parkedPages; page++ {
		over, last, err := sum.check.Parked(ctx, after, parkedPage)
		if err == nil && e.opts.Fix && len(over) > 0 {
			err = sum.check.Wake(ctx, over)
		}
		if err != nil {
			return err
		}
		for _, id := range over {
			sum.parked.add(join.ID(id).String())
		}
		if after = last; last == 0 {
			return nil
		}
	}
	return nil
}

// findings returns what is wrong and what was repaired, if anything.
func (s *joinTally) findings() []health.Finding {
	var found []health.Finding
	if s.fixed.n > 0 {
		found = append(found, one(health.Note, fmt.Sprintf("repaired %d joins: %s", s.fixed.n, &s.fixed), "")...)
	}
	if s.wrong.n > 0 {
		f := one(health.Problem, fmt.Sprintf("%d of %d joins disagree with their members: %s", s.wrong.n, s.read, &s.wrong), "Run: pawl doctor --fix")
		if s.hopeless == s.wrong.n {
			f[0].NextStep = "More members count than there are steps: one of the tables was changed by hand. Cancel the join: pawl joins cancel ID"
		}
		f[0].Fixable = s.hopeless < s.wrong.n
		found = append(found, f...)
	}
	switch {
	case s.parked.n > 0 && s.fix:
		found = append(found, one(health.Note, fmt.Sprintf("woke the waits of %d joins that are over: %s", s.parked.n, &s.parked), "")...)
	case s.parked.n > 0:
		f := one(health.Problem, fmt.Sprintf("%d joins are over, and their waits are parked: %s", s.parked.n, &s.parked), "Run: pawl doctor --fix")
		f[0].Fixable = true
		found = append(found, f...)
	}
	if s.large > 0 {
		found = append(found, one(health.Note, fmt.Sprintf("%d joins have %d members or more and were not counted", s.large, joincheck.Members), "")...)
	}
	return found
}
