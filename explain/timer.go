package explain

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timer explains a timer and, once it fired, its message.
func (l *look) timer(ctx context.Context, t *timer.Info) (*Explanation, error) {
	x := &Explanation{Kind: Timer, ID: t.ID.String(), Facts: l.timerFacts(t)}
	switch t.Status {
	case timer.Fired:
		return x, l.fired(ctx, x, t)
	case timer.Cancelled:
		x.Hold = Hold{Reason: TimerCancelled, Sentence: fmt.Sprintf("It was taken back, or replaced by another of its key, at %s.", l.when(t.EndedAt))}
		return x, nil
	case timer.Claimed:
		x.Hold = l.claimedTimer(t)
	default:
		x.Hold, x.Also = l.pendingTimer(t)
	}
	x.Also = append(x.Also, l.pausedAt(t.Queue, t.Topic, false)...)
	if missing, is := l.unmanned(t.Queue, t.Topic); is {
		x.Also = append(x.Also, missing)
	}
	return x, nil
}

func (l *look) timerFacts(t *timer.Info) (f Facts) {
	f.add("key", t.Key)
	f.add("status", t.Status.String())
	f.add("topic", t.Topic)
	f.add("queue", t.Queue)
	l.addTime(&f, "created", t.CreatedAt)
	l.addTime(&f, "due", t.Due)
	f.number("failed_attempts", int64(t.RetryCount))
	if t.Status == timer.Scheduled {
		l.addTime(&f, "next_attempt", t.NextAttempt)
	}
	l.addTime(&f, "lease_until", t.LockedUntil)
	if (t.Owner != outbox.OwnerToken{}) {
		f.add("owner_token", t.Owner.String())
	}
	l.addTime(&f, "ended", t.EndedAt)
	f.add("last_error", t.LastError)
	return f
}

// pendingTimer explains a timer that nobody is at. When it is due a pause of its
// topic holds its message, not the timer.
func (l *look) pendingTimer(t *timer.Info) (Hold, []Hold) {
	nobody := Hold{NoScheduler, "No live worker is there, and so no scheduler that fires timers. Programs that fire them by themselves are not in the list of workers.", "start a worker, of whatever queue"}
	switch {
	case t.NextAttempt.After(l.now):
		h := Hold{Reason: TimerPending, Sentence: fmt.Sprintf("It fires at %s.", l.when(t.NextAttempt))}
		if t.RetryCount > 0 {
			h.Sentence = fmt.Sprintf("It waits until %s to be fired again: attempt %d failed%s", l.when(t.NextAttempt), t.RetryCount, stop(after(t.LastError)))
		}
		if l.crew.any() {
			return h, nil
		}
		return h, []Hold{nobody}
	case !l.crew.any():
		nobody.Sentence = fmt.Sprintf("It is due since %s. %s", l.when(t.NextAttempt), nobody.Sentence)
		return nobody, nil
	}
	return Hold{Reason: TimerDue, Sentence: fmt.Sprintf("It is due since %s, and a scheduler fires it at any moment.", l.when(t.NextAttempt)),
		Next: "if it stays like this: look at the schedulers of the workers, or for programs that have to fire their timers themselves"}, nil
}

func (l *look) claimedTimer(t *timer.Info) Hold {
	who, _ := l.owner(t.Owner)
	if !t.LockedUntil.Before(l.now) {
		return Hold{Reason: TimerClaimed, Sentence: fmt.Sprintf("%s is firing it, with a lease until %s.", upper(who), l.when(t.LockedUntil))}
	}
	h := Hold{Reason: TimerClaimExpired, Sentence: fmt.Sprintf("%s was firing it, and its lease ran out at %s.", upper(who), l.when(t.LockedUntil))}
	if l.crew.any() {
		h.Sentence += " A scheduler takes it back at any moment."
	} else {
		h.Sentence += " No live worker is there to take it back."
		h.Next = "start a worker, of whatever queue, or the program that fires timers"
	}
	return h
}

// fired explains a timer whose message, if there is one, is what runs.
func (l *look) fired(ctx context.Context, x *Explanation, t *timer.Info) error {
	m, err := l.message(ctx, t.ID)
	switch {
	case err == nil:
		x.Hold = Hold{TimerFired, fmt.Sprintf("It fired at %s and became a message. %s", l.when(t.EndedAt), m.Sentence), m.Next}
		x.Because = []*Explanation{m}
	case absent(err):
		x.Hold = Hold{Reason: TimerOver, Sentence: fmt.Sprintf("It fired at %s. There is no message of it: that was cleaned up after its retention period, or a program fired the timer by itself.", l.when(t.EndedAt))}
		err = nil
	}
	return err
}

// upper begins a sentence.
func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
