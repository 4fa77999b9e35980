// Package joincheck compares joins with their members, and repairs them, for the doctor and for
// the clean-up of joins. Differences are caused by bugs, or by changes of a table by hand:
// counters, members and messages change together.
package joincheck

import (
	"bytes"
	"context"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// Members is how many members of a join Page counts.
	Members = 10_000
	// manyMembers is how many members of a join One counts.
	manyMembers = 1_000_000
	// missedAtOnce is how many members are counted in one transaction.
	missedAtOnce = 1000
)

// Join has the counters of a join, and the same counted from its members.
type Join struct {
	ID                                     [16]byte
	Status                                 int
	Expected, Completed, Failed            int64
	Members, MemberCompleted, MemberFailed int64
	// Missed is how many messages are settled and were not counted.
	Missed int64
	// Truncated means that it has more members than were counted, so that the comparison is
	// not possible.
	Truncated bool
}

// pending is the status of a join that has not ended.
const pending = 0

// Agrees reports whether the counters equal those of the members.
func (j *Join) Agrees() bool {
	return j.Completed == j.MemberCompleted && j.Failed == j.MemberFailed && j.Missed == 0 && (j.Status != pending || j.Completed+j.Failed < j.Expected)
}

// Fixable reports whether the members can be right.
func (j *Join) Fixable() bool { return j.MemberCompleted+j.MemberFailed <= j.Expected }

// Above returns an id that is above all joins', to begin a walk with.
func Above() [16]byte { return [16]byte(bytes.Repeat([]byte{0xff}, 16)) }

// Check checks the joins of a database.
type Check struct {
	DB engine.DB
	// Timeout bounds each step; zero leaves that to the database's own limit.
	Timeout time.Duration
	// Note records a repair by an operator; the zero value is for what pawl repairs by itself.
	Note audit.Note
}

func (c Check) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.Timeout)
}

// Page returns up to n joins of a status below an id, highest first.
func (c Check) Page(ctx context.Context, status int, below [16]byte, n int) ([]Join, error) {
	return c.page(ctx, status, below, n, Members)
}

// One returns a join that Page found truncated, with all its members counted up to a
// million; false if it has another status by now.
func (c Check) One(ctx context.Context, j *Join) (Join, bool, error) {
	next := j.ID
	for i := len(next) - 1; i >= 0; i-- { // the id that follows
		if next[i]++; next[i] != 0 {
			break
		}
	}
	list, err := c.page(ctx, j.Status, next, 1, manyMembers)
	if err != nil || len(list) == 0 || list[0].ID != j.ID {
		return Join{}, false, err
	}
	return list[0], true, nil
}

func (c Check) page(ctx context.Context, status int, below [16]byte, n, members int) (list []Join, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	found, err := engine.Query(ctx, c.DB, op.DoctorJoins{Status: status, Before: below, Most: n, MostMembers: members})
	for i := range found {
		j := checked(&found[i])
		j.Status, j.Truncated = status, j.Members >= int64(members)
		list = append(list, j)
	}
	return list, err
}

// checked converts the result of a check.
func checked(j *op.DoctorJoin) Join {
	return Join{
		ID: j.JoinID, Expected: j.ExpectedSteps, Completed: j.CompletedSteps, Failed: j.FailedSteps,
		Members: j.Members, MemberCompleted: j.MembersCompleted, MemberFailed: j.MembersFailed, Missed: j.Missed,
	}
}

// Repair sets a join's counters to those of its members, and then counts members whose messages
// are settled. Both read again under the join's lock: what was read before may have changed. The
// second takes the locks of messages first, so the two are separate transactions
// (docs/joins.md). It reports whether there was still something to repair.
func (c Check) Repair(ctx context.Context, j *Join) (changed bool, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	recount := engine.Ask(op.DoctorJoinRecount{JoinID: j.ID, Note: c.Note.Op()})
	if err := c.DB.Do(ctx, engine.Ask(op.DoctorJoinLock{JoinID: j.ID}), recount); err != nil {
		return false, err
	}
	changed = recount.N > 0
	note := c.Note.Op()
	if changed {
		note = op.Note{} // it is one join
	}
	for left := j.Missed; left > 0; {
		missed, err := engine.Query(ctx, c.DB, op.DoctorJoinMissed{JoinID: j.ID, Most: missedAtOnce})
		if err != nil || len(missed) == 0 { // others counted them, or it has ended
			return changed, err
		}
		err = c.DB.Do(ctx, engine.Ask(op.DoctorJoinHold{Missed: missed}), engine.Ask(op.DoctorJoinSettle{JoinID: j.ID, Missed: missed, Note: note}))
		if err != nil {
			return changed, err
		}
		note = op.Note{}
		changed, left = true, left-int64(len(missed))
	}
	return changed, nil
}

// Parked returns the joins that have ended although their wait is parked without a deadline,
// among the n parked waits of the lowest positions after after. last is where to continue; zero
// at the end.
func (c Check) Parked(ctx context.Context, after int64, n int) (over [][16]byte, last int64, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	parked, err := engine.Query(ctx, c.DB, op.DoctorJoinParked{After: after, Most: n})
	for _, p := range parked {
		if p.Over != nil {
			over = append(over, *p.Over)
		}
	}
	if len(parked) == n {
		last = parked[n-1].Lo
	}
	return over, last, err
}

// Wake makes the waits of joins that have ended due at once.
func (c Check) Wake(ctx context.Context, joins [][16]byte) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	return c.DB.Do(ctx, engine.Ask(op.DoctorJoinWake{JoinIDs: joins, Note: c.Note.Op()}))
}
