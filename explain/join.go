package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

const (
	// maxNested bounds how many members and waits of a join are explained.
	maxNested = 10
	// maxWaits bounds how many waits are looked at for those that nobody handled.
	maxWaits = 100
)

// join explains a join, with the members that it waits for or the waits that nobody
// handled.
func (l *look) join(ctx context.Context, id join.ID) (*Explanation, error) {
	j, err := l.Joins.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	x := l.joinAs(j)
	waits, err := l.unhandled(ctx, j)
	if err != nil {
		return nil, err
	}
	if j.Status != join.Pending {
		if len(waits) > 0 && j.Status != join.Cancelled {
			x.Hold = Hold{JoinUntold, fmt.Sprintf("%s What is to be sent then is not: a wait of it was not handled. %s", x.Sentence, waits[0].Sentence), waits[0].Next}
			x.Because = waits
		}
		return x, nil
	}
	if err := l.addMembers(ctx, x, j); err != nil {
		return nil, err
	}
	if x.Reason == JoinOverdue {
		x.Because = append(waits, x.Because...)
	}
	return x, nil
}

// joinAlone explains a join without what it depends on.
func (l *look) joinAlone(ctx context.Context, id join.ID) (*Explanation, error) {
	j, err := l.Joins.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.joinAs(j), nil
}

func (l *look) joinAs(j *join.Join) *Explanation {
	x := &Explanation{Kind: Join, ID: j.ID.String()}
	x.Facts.add("status", j.Status.String())
	x.Facts.add("group", j.GroupingKey)
	x.Facts.number("expected_steps", int64(j.ExpectedSteps))
	x.Facts.number("completed_steps", int64(j.CompletedSteps))
	x.Facts.number("failed_steps", int64(j.FailedSteps))
	l.addTime(&x.Facts, "created", j.CreatedAt)
	l.addTime(&x.Facts, "updated", j.UpdatedAt)
	l.addTime(&x.Facts, "deadline", j.Deadline)
	steps := fmt.Sprintf("%d of %s completed and %d failed", j.CompletedSteps, several(int64(j.ExpectedSteps), "step"), j.FailedSteps)
	switch j.Status {
	case join.Completed:
		x.Hold = Hold{Reason: JoinCompleted, Sentence: fmt.Sprintf("It completed at %s: %s.", l.when(j.UpdatedAt), steps)}
	case join.Failed:
		x.Hold = Hold{Reason: JoinFailed, Sentence: fmt.Sprintf("It failed at %s: %s%s.", l.when(j.UpdatedAt), steps, late(j))}
	case join.Cancelled:
		x.Hold = Hold{Reason: JoinCancelled, Sentence: fmt.Sprintf("It was cancelled at %s: %s.", l.when(j.UpdatedAt), steps)}
	default:
		x.Hold = Hold{Reason: JoinWaiting, Sentence: fmt.Sprintf("It waits for %d of %s: %s so far.",
			j.ExpectedSteps-j.CompletedSteps-j.FailedSteps, several(int64(j.ExpectedSteps), "step"), steps)}
	}
	return x
}

// late tells a deadline that passed from steps that failed.
func late(j *join.Join) string {
	if j.IsComplete() || j.Deadline.IsZero() {
		return ""
	}
	return ", the others were not over by its deadline"
}

// addMembers says for whom a pending join waits.
func (l *look) addMembers(ctx context.Context, x *Explanation, j *join.Join) error {
	pending, err := l.pendingMembers(ctx, j.ID)
	if err != nil {
		return err
	}
	open := j.ExpectedSteps - j.CompletedSteps - j.FailedSteps
	missing := open - len(pending)
	if len(pending) > maxNested {
		missing = 0 // there may be more than were looked at
		x.Facts.add("pending_members", fmt.Sprintf("more than %d", maxNested))
		pending = pending[:maxNested]
	} else {
		x.Facts.number("pending_members", int64(len(pending)))
	}
	if missing > 0 {
		unattached := Hold{JoinUnattached, fmt.Sprintf("%s still expected, but no message is attached for that.", upper(isOrAre(missing))), "attach the messages, report the steps, or: pawl joins cancel " + j.ID.String()}
		if len(pending) == 0 {
			x.Hold = unattached
		} else {
			x.Also = append(x.Also, unattached)
		}
	}
	if !j.Deadline.IsZero() && !j.Deadline.After(l.now) {
		x.Also = append([]Hold{x.Hold}, x.Also...)
		x.Hold = Hold{JoinOverdue, fmt.Sprintf("Its deadline passed at %s. It fails as soon as a worker handles a wait of it.", l.when(j.Deadline)),
			"start a worker of its waits' queue, or: pawl joins cancel " + j.ID.String()}
	}
	for _, m := range pending {
		why, err := l.message(ctx, m.MessageID)
		if absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		x.Because = append(x.Because, why)
	}
	return nil
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 step is"
	}
	return fmt.Sprintf("%d steps are", n)
}

func (l *look) pendingMembers(ctx context.Context, id join.ID) ([]*join.Member, error) {
	status := join.MemberPending
	all, err := l.Joins.Members(ctx, id, join.MemberFilter{Status: &status, Limit: maxNested + 1})
	return slices.DeleteFunc(all, func(m *join.Member) bool { return m.Status != status }), err
}

// unhandled are the waits of a join that were not handled.
func (l *look) unhandled(ctx context.Context, j *join.Join) ([]*Explanation, error) {
	all, err := engine.Query(ctx, l.DB, op.ExplainWaits{Join: j.ID, Most: maxWaits})
	if err != nil {
		return nil, err
	}
	var waits []*Explanation
	for _, wait := range all {
		if len(waits) == maxNested {
			break
		}
		w, err := l.messageAt(ctx, outbox.WorkItemID(wait.ID))
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil && w.Reason != Done && w.Reason != Discarded {
			w.Because = nil // the join itself
			waits = append(waits, w)
		}
	}
	return waits, nil
}
