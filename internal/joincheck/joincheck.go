// Package joincheck compares joins with what became of their members, and repairs
// them, for the doctor and for the clean-up of joins. What it finds can only be the
// trace of a bug, or of somebody who changed a table by hand: counters, members and
// messages change together.
package joincheck

import (
	"bytes"
	"context"
	"time"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
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
	err = c.DB.Read(ctx, &engine.Call{
		Op: "doctor/joins", Args: []any{below, status, n, members}, Reset: func() { list = nil },
		Each: func(r engine.Row) error {
			j := Join{Status: status}
			err := r.Scan(&j.ID, &j.Expected, &j.Completed, &j.Failed, &j.Members, &j.MemberCompleted, &j.MemberFailed, &j.Missed)
			j.Truncated = j.Members >= int64(members)
			list = append(list, j)
			return err
		},
	})
	return list, err
}

// Repair sets a join's counters to what its members say, and then counts those whose
// messages are over. Both find out for themselves under the join's lock: what was
// seen before may have changed. The second takes the locks of messages first, so
// the two are transactions of their own (docs/joins.md). It reports whether there
// was still something to repair.
func (c Check) Repair(ctx context.Context, j *Join) (changed bool, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	recount := engine.Count("doctor/join_recount", append([]any{j.ID}, c.Note.Args()...)...)
	if err := c.DB.Do(ctx, &engine.Call{Op: "doctor/join_lock", Args: []any{j.ID}}, recount); err != nil {
		return false, err
	}
	changed = recount.N > 0
	note := c.Note
	if changed {
		note = audit.Note{} // it is one join
	}
	for left := j.Missed; left > 0; {
		positions, messages, err := c.missed(ctx, j.ID)
		if err != nil || len(positions) == 0 { // others counted them, or it is over
			return changed, err
		}
		err = c.DB.Do(ctx, &engine.Call{Op: "doctor/join_hold", Args: []any{positions}},
			&engine.Call{Op: "doctor/join_settle", Args: append([]any{j.ID, positions, messages}, note.Args()...)})
		if err != nil {
			return changed, err
		}
		note = audit.Note{}
		changed, left = true, left-int64(len(positions))
	}
	return changed, nil
}

// missed are members of a pending join whose messages are over.
func (c Check) missed(ctx context.Context, id [16]byte) (positions []int64, messages [][16]byte, err error) {
	err = c.DB.Read(ctx, &engine.Call{
		Op: "doctor/join_missed", Args: []any{id, missedAtOnce}, Reset: func() { positions, messages = nil, nil },
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

// Parked returns the joins that are over although their wait is parked until nobody
// wakes it, among the n parked waits of the lowest positions behind after. last is
// where to go on; zero at the end. A wait with a deadline comes back by itself.
func (c Check) Parked(ctx context.Context, after int64, n int) (over [][16]byte, last int64, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	seen := 0
	err = c.DB.Read(ctx, &engine.Call{
		Op: "doctor/join_parked", Args: []any{after, n}, Reset: func() { over, last, seen = nil, 0, 0 },
		Each: func(r engine.Row) error {
			var join *[16]byte
			err := r.Scan(&last, &join)
			if seen++; join != nil {
				over = append(over, *join)
			}
			return err
		},
	})
	if seen < n {
		last = 0
	}
	return over, last, err
}

// Wake makes the waits of joins that are over due at once.
func (c Check) Wake(ctx context.Context, joins [][16]byte) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	return c.DB.Do(ctx, &engine.Call{Op: "doctor/join_wake", Args: append([]any{joins}, c.Note.Args()...)})
}
