package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timer explains a timer and, once it fired, its message.
func (e *explainer) timer(ctx context.Context, t *timer.Info) (*Explanation, error) {
	x := &Explanation{Kind: Timer, ID: t.ID.String(), Facts: e.timerFacts(t)}
	switch t.Status {
	case timer.Fired:
		return x, e.fired(ctx, x, t)
	case timer.Cancelled:
		x.Finding = blocker(codeTimerCancelled, fmt.Sprintf("It was taken back, or replaced by another of its key, at %s.", e.when(t.EndedAt)), "")
		return x, nil
	case timer.Claimed:
		x.Finding = e.claimedTimer(t)
	default:
		x.Finding, x.Also = e.pendingTimer(t)
	}
	x.Also = append(x.Also, e.pausedAt(t.Queue, t.Topic, false)...)
	if missing, is := e.noWorker(t.Queue, t.Topic); is {
		x.Also = append(x.Also, missing)
	}
	return x, nil
}

func (e *explainer) timerFacts(t *timer.Info) (f health.Facts) {
	add(&f, "key", t.Key)
	add(&f, "status", string(t.Status))
	add(&f, "topic", t.Topic)
	add(&f, "queue", t.Queue)
	e.addTime(&f, "created", t.CreatedAt)
	e.addTime(&f, "due", t.Due)
	addNumber(&f, "failed_attempts", int64(t.RetryCount))
	if t.Status == timer.Scheduled {
		e.addTime(&f, "next_attempt", t.NextAttemptAt)
	}
	e.addTime(&f, "lease_until", t.LockedUntil)
	if (t.Owner != outbox.OwnerToken{}) {
		add(&f, "owner_token", t.Owner.String())
	}
	e.addTime(&f, "ended", t.EndedAt)
	add(&f, "last_error", t.LastError)
	return f
}

// pendingTimer explains a timer that nobody has claimed. A pause of its topic blocks its
// message, not the timer.
func (e *explainer) pendingTimer(t *timer.Info) (health.Finding, []health.Finding) {
	nobody := blocker(codeNoScheduler, "No live worker is there, and so no scheduler that fires timers. Programs that fire them by themselves are not in the list of workers.", startWorker)
	switch {
	case t.NextAttemptAt.After(e.now):
		f := blocker(codeTimerPending, fmt.Sprintf("It fires at %s.", e.when(t.NextAttemptAt)), "")
		if t.RetryCount > 0 {
			f.Summary = fmt.Sprintf("It waits until %s to be fired again: attempt %d failed%s", e.when(t.NextAttemptAt), t.RetryCount, stop(after(t.LastError)))
		}
		if len(e.everyone.Alive()) > 0 {
			return f, nil
		}
		return f, []health.Finding{nobody}
	case len(e.everyone.Alive()) == 0:
		nobody.Summary = fmt.Sprintf("It is due since %s. %s", e.when(t.NextAttemptAt), nobody.Summary)
		return nobody, nil
	}
	return blocker(codeTimerDue, fmt.Sprintf("It is due since %s, and a scheduler fires it at any moment.", e.when(t.NextAttemptAt)), "if it stays like this: look at the schedulers of the workers, or for programs that have to fire their timers themselves"), nil
}

func (e *explainer) claimedTimer(t *timer.Info) health.Finding {
	who, _ := e.owner(t.Owner)
	if !t.LockedUntil.Before(e.now) {
		return blocker(codeTimerClaimed, fmt.Sprintf("%s is firing it, with a lease until %s.", upper(who), e.when(t.LockedUntil)), "")
	}
	f := blocker(codeTimerClaimExpired, fmt.Sprintf("%s was firing it, and its lease ran out at %s.", upper(who), e.when(t.LockedUntil)), "")
	if len(e.everyone.Alive()) > 0 {
		f.Summary += " A scheduler takes it back at any moment."
	} else {
		f.Summary += " No live worker is there to take it back."
		f.NextStep = "start a worker, of whatever queue, or the program that fires timers"
	}
	return f
}

// fired explains a timer whose message, if there is one, is what runs.
func (e *explainer) fired(ctx context.Context, x *Explanation, t *timer.Info) error {
	m, err := e.message(ctx, t.ID)
	switch {
	case err == nil:
		x.Finding = blockedBy(codeTimerFired, fmt.Sprintf("It fired at %s and became a message.", e.when(t.EndedAt)), m)
		x.Causes = []Explanation{*m}
	case absent(err):
		x.Finding = blocker(codeTimerOver, fmt.Sprintf("It fired at %s. There is no message of it: that was cleaned up after its retention period, or a program fired the timer by itself.", e.when(t.EndedAt)), "")
		err = nil
	}
	return err
}

// upper returns s with an upper-case first letter, for the start of a sentence.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
