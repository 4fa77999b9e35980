package join

import (
	"context"
	"sync"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/joincheck"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	// repairPage is how many joins one statement of the clean-up counts.
	repairPage = 25
	// repairPages is how many pages of pending joins a round reads: a lost step keeps those from
	// ending. Of joins that have ended it reads one page per status.
	repairPages = 40
	// parkedPage is how many parked waits a round reads.
	parkedPage = 1000
)

// repaired is what a clean-up had to repair. It is a bug in pawl, or somebody
// changed a table by hand.
type repaired struct {
	joins int64 // whose counters disagreed with their members
	waits int64 // that were parked though their join was over
}

// rounds remembers how far the rounds of the clean-up have come: each looks at some
// joins, so that its cost does not grow with their number, and the next goes on there.
type rounds struct {
	mu    sync.Mutex
	below map[int][16]byte
	after int64 // parked waits
}

// repair reads some joins, and repairs those whose counters disagree with their members, and
// those that have ended while their wait is parked.
func (j *Joins) repair(ctx context.Context) error {
	j.rounds.mu.Lock()
	defer j.rounds.mu.Unlock()
	var done repaired
	err := j.repairAll(ctx, &done)
	if done != (repaired{}) {
		j.observers.Each(func(o *worker.Observer) {
			if o.JoinsRepaired != nil {
				o.JoinsRepaired(done.joins, done.waits)
			}
		})
	}
	return err
}

func (j *Joins) repairAll(ctx context.Context, done *repaired) error {
	check := joincheck.Check{DB: j.db}
	for status := range op.JoinStatuses() {
		pages := 1
		if status == Pending.number() {
			pages = repairPages
		}
		for more := true; more && pages > 0; pages-- {
			var err error
			if more, err = j.repairPage(ctx, check, status, done); err != nil {
				return err
			}
		}
	}
	return j.wakeParked(ctx, check, done)
}

// repairPage looks at the next page of a status. more is false when it was the last;
// the next begins anew.
func (j *Joins) repairPage(ctx context.Context, check joincheck.Check, status int, done *repaired) (more bool, err error) {
	below, begun := j.rounds.below[status]
	if !begun {
		below = joincheck.Above()
	}
	list, err := check.Page(ctx, status, below, repairPage)
	if err != nil {
		return false, err
	}
	for i := range list {
		if err := j.repairOne(ctx, check, &list[i], done); err != nil {
			return false, err
		}
	}
	if len(list) < repairPage {
		delete(j.rounds.below, status)
		return false, nil
	}
	j.rounds.below[status] = list[len(list)-1].ID
	return true, nil
}

func (j *Joins) repairOne(ctx context.Context, check joincheck.Check, found *joincheck.Join, done *repaired) error {
	if found.Truncated && found.Status == Pending.number() {
		whole, ok, err := check.One(ctx, found)
		if err != nil || !ok {
			return err
		}
		found = &whole
	}
	if found.Truncated || found.Agrees() {
		return nil
	}
	if !found.Fixable() {
		j.log.WarnContext(ctx, "the counters of a join disagree with its members, which are more than its steps: somebody changed a table by hand",
			"join_id", ID(found.ID).String(), "expected_steps", found.Expected, "completed_steps", found.Completed, "failed_steps", found.Failed)
		return nil
	}
	changed, err := check.Repair(ctx, found)
	if changed {
		done.joins++
		j.log.WarnContext(ctx, "repaired a join: its counters disagreed with its members",
			"join_id", ID(found.ID).String(), "expected_steps", found.Expected, "completed_steps", found.Completed, "failed_steps", found.Failed)
	}
	return err
}

// wakeParked wakes waits that are parked although their join is over.
func (j *Joins) wakeParked(ctx context.Context, check joincheck.Check, done *repaired) error {
	over, last, err := check.Parked(ctx, j.rounds.after, parkedPage)
	if err != nil {
		return err
	}
	j.rounds.after = last
	if len(over) == 0 {
		return nil
	}
	if err := check.Wake(ctx, over); err != nil {
		return err
	}
	done.waits += int64(len(over))
	for _, id := range over {
		j.log.WarnContext(ctx, "woke the wait of a join that is over", "join_id", ID(id).String())
	}
	return nil
}
