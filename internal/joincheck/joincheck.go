// Package joincheck compares joins with what became of their members, and repairs
// them, for the doctor and for the clean-up of joins. What it finds can only be the
// trace of a bug, or of somebody who changed a table by hand: counters, members and
// messages change together.
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

// Join is what a join and its members say.
type Join struct {
	ID                                     [16]byte
	Status                                 int
	Expected, Completed, Failed            int64
	Members, MemberCompleted, MemberFailed int64
	// Missed is how many messages are over and were not counted.
	Missed int64
	// Truncated says that it has more members than were counted, so that nothing is
	// known of it.
	Truncated bool
}

// pending is the status of a join that is not over.
const pending = 0

// Agrees reports whether the counters are what the members say.
func (j *Join) Agrees() bool {
	return j.Completed == j.MemberCompleted && j.Failed == j.MemberFailed && j.Missed == 0 && (j.Status != pending || j.Completed+j.Failed < j.Expected)
}

// Fixable reports whether the members can be right.
func (j *Join) Fixable() bool { return j.MemberCompleted+j.MemberFailed <= j.Expected }

// Above is an id that no join's is higher than: where a walk begins.
func Above() [16]byte { return [16]byte(bytes.Repeat([]byte{0xff}, 16)) }

// Check checks the joins of a database.
type Check struct {
	DB engine.DB
	// Timeout bounds each step; zero leaves that to the database's own limit.
	Timeout time.Duration
	// Note is of what somebody has repaired; the zero value is for what pawl repairs by
	// itself.
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

// checked is a join as it was found.
func checked(j *op.DoctorJoin) Join {
	return Join{
		ID: j.JoinID, Expected: j.ExpectedSteps, Completed: j.CompletedSteps, Failed: j.FailedSteps,
		Members: j.Members, MemberCompleted: j.MembersCompleted, MemberFailed: j.MembersFailed, Missed: j.Missed,
	}
}

// Repair sets a join's counters to what its members say, and then counts those whose
// messages are over. Both find out for themselves under the join's lock: what was
// seen before may have changed. The second takes the locks of messages first, so
// the two are transactions of their own (docs/joins.md). It reports whether there
// was still something to repair.
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
		if err != nil || len(missed) == 0 { // others counted them, or it is over
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

// Parked returns the joins that are over although their wait is parked until nobody
// wakes it, among the n parked waits of the lowest positions behind after. last is
// where to go on; zero at the end. A wait with a deadline comes back by itself.
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

// Wake makes the waits of joins that are over due at once.
func (c Check) Wake(ctx context.Context, joins [][16]byte) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	return c.DB.Do(ctx, engine.Ask(op.DoctorJoinWake{JoinIDs: joins, Note: c.Note.Op()}))
}
