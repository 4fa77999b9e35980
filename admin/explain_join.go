package admin

import (
	"context"
	"fmt"
	"slices"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

const (
	// maxNested bounds how many members and waits of a join are explained.
	maxNested = 10
	// maxWaits bounds how many waits are read to find those that nobody handled.
	maxWaits = 100
)

// join explains a join, with the members that it waits for or the waits that nobody
// handled.
func (e *explainer) join(ctx context.Context, id join.ID) (*Explanation, error) {
	j, err := e.joins.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	x := e.joinState(j)
	waits, err := e.unhandled(ctx, j)
	if err != nil {
		return nil, err
	}
	if j.Status != join.Pending {
		if len(waits) > 0 && j.Status != join.Cancelled {
			x.Finding = blockedBy(codeJoinWaitPending, x.Summary+" What is to be sent then is not: a wait of it was not handled.", &waits[0])
			x.Causes = waits
		}
		return x, nil
	}
	if err := e.addMembers(ctx, x, j); err != nil {
		return nil, err
	}
	if x.Code == codeJoinOverdue {
		x.Causes = append(waits, x.Causes...)
	}
	return x, nil
}

// joinAlone explains a join without what it depends on.
func (e *explainer) joinAlone(ctx context.Context, id join.ID) (*Explanation, error) {
	j, err := e.joins.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.joinState(j), nil
}

func (e *explainer) joinState(j *join.Info) *Explanation {
	x := &Explanation{Kind: Join, ID: j.ID.String()}
	add(&x.Facts, "status", string(j.Status))
	add(&x.Facts, "group", j.GroupingKey)
	addNumber(&x.Facts, "expected_steps", int64(j.ExpectedSteps))
	addNumber(&x.Facts, "completed_steps", int64(j.CompletedSteps))
	addNumber(&x.Facts, "failed_steps", int64(j.FailedSteps))
	e.addTime(&x.Facts, "created", j.CreatedAt)
	e.addTime(&x.Facts, "updated", j.UpdatedAt)
	e.addTime(&x.Facts, "deadline", j.Deadline)
	steps := fmt.Sprintf("%d of %s completed and %d failed", j.CompletedSteps, engine.Several(int64(j.ExpectedSteps), "step"), j.FailedSteps)
	switch j.Status {
	case join.Completed:
		x.Finding = blocker(codeJoinCompleted, fmt.Sprintf("It completed at %s: %s.", e.when(j.UpdatedAt), steps), "")
	case join.Failed:
		x.Finding = blocker(codeJoinFailed, fmt.Sprintf("It failed at %s: %s%s.", e.when(j.UpdatedAt), steps, late(j)), "pawl joins retry "+j.ID.String())
	case join.Cancelled:
		x.Finding = blocker(codeJoinCancelled, fmt.Sprintf("It was cancelled at %s: %s.", e.when(j.UpdatedAt), steps), "")
	default:
		x.Finding = blocker(codeJoinWaiting, fmt.Sprintf("It waits for %d of %s: %s so far.",
			j.ExpectedSteps-j.CompletedSteps-j.FailedSteps, engine.Several(int64(j.ExpectedSteps), "step"), steps), "")
	}
	return x
}

// late returns what to add for a join that failed by its deadline, not by its steps.
func late(j *join.Info) string {
	if j.CompletedSteps+j.FailedSteps == j.ExpectedSteps || j.Deadline.IsZero() {
		return ""
	}
	return ", the others were not over by its deadline"
}

// addMembers adds the members that a pending join waits for.
func (e *explainer) addMembers(ctx context.Context, x *Explanation, j *join.Info) error {
	pending, err := e.pendingMembers(ctx, j.ID)
	if err != nil {
		return err
	}
	open := j.ExpectedSteps - j.CompletedSteps - j.FailedSteps
	missing := open - len(pending)
	if len(pending) > maxNested {
		missing = 0 // there may be more
		add(&x.Facts, "pending_members", fmt.Sprintf("more than %d", maxNested))
		pending = pending[:maxNested]
	} else {
		addNumber(&x.Facts, "pending_members", int64(len(pending)))
	}
	if missing > 0 {
		unattached := blocker(codeJoinUnattached, fmt.Sprintf("%s still expected, but no message is attached for that.", upper(isOrAre(missing))), "attach the messages, report the steps, or: pawl joins cancel "+j.ID.String())
		if len(pending) == 0 {
			x.Finding = unattached
		} else {
			x.Also = append(x.Also, unattached)
		}
	}
	if !j.Deadline.IsZero() && !j.Deadline.After(e.now) {
		x.Also = append([]health.Finding{x.Finding}, x.Also...)
		x.Finding = blocker(codeJoinOverdue, fmt.Sprintf("Its deadline passed at %s. It fails as soon as a worker handles a wait of it.", e.when(j.Deadline)), "start a worker of its waits' queue, or: pawl joins cancel "+j.ID.String())
	}
	for _, m := range pending {
		why, err := e.message(ctx, m.MessageID)
		if absent(err) {
			continue
		}
		if err != nil {
			return err
		}
		x.Causes = append(x.Causes, *why)
	}
	return nil
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 step is"
	}
	return fmt.Sprintf("%d steps are", n)
}

func (e *explainer) pendingMembers(ctx context.Context, id join.ID) ([]join.Member, error) {
	all, err := engine.Collect(e.joins.Members(ctx, id, join.MembersOptions{Status: join.Pending}), maxNested+1)
	return slices.DeleteFunc(all, func(m join.Member) bool { return m.Status != join.Pending }), err
}

// unhandled explains the waits of a join that were not handled.
func (e *explainer) unhandled(ctx context.Context, j *join.Info) ([]Explanation, error) {
	all, err := engine.Query(ctx, e.db, op.ExplainWaits{Join: j.ID, Most: maxWaits})
	if err != nil {
		return nil, err
	}
	var waits []Explanation
	for _, wait := range all {
		if len(waits) == maxNested {
			break
		}
		w, err := e.messageAt(ctx, outbox.Position(wait.ID))
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil && w.Code != codeDone && w.Code != codeDiscarded && w.Code != codeExpired {
			w.Causes = nil // the join itself
			waits = append(waits, *w)
		}
	}
	return waits, nil
}
