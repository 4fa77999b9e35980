package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// worker runs handlers until the tasks end.
func (l *Loop[M]) worker() { l.work(l.inflight.nextTask()) }

// work runs a task's handler, and then others.
func (l *Loop[M]) work(t task[M], ok bool) {
	for ok {
		r := l.execute(&t)
		t, ok = l.next(&t, r)
	}
}

// begin says whether a task may start: not while stopping, and not with less than a
// third of its lease left (D-18).
func (l *Loop[M]) begin(t *task[M]) (now time.Time, ok bool) {
	left := time.Until(t.deadline)
	now = t.deadline.Add(-left) // one reading of the clock for both
	return now, !t.late && left >= l.cfg.Lease/3 && t.claim.ctx.Err() == nil
}

// execute runs one item's handler and decides what becomes of the item.
func (l *Loop[M]) execute(t *task[M]) (r result) {
	defer func() { r.index = t.index }()
	now, ok := l.begin(t)
	if !ok {
		return result{outcome: released, fate: OutcomeReleased, unbegun: true}
	}
	if fault := t.item.Fault; fault != nil {
		r := result{outcome: failedForGood, fate: OutcomeFailed, text: ErrorText(fault.Error())}
		l.reportFailure(t, l.cfg.Policy(t.item.Topic), fault, &r)
		return r
	}
	if r, ok := l.paused(t.item.Topic); ok {
		return r
	}
	policy := l.cfg.Policy(t.item.Topic)
	if policy.Exhausted(t.item.Retry) {
		// Its leases expired: it kills its workers, so it must not run again.
		err := fmt.Errorf("lease expired; gave up after %d attempts, the last of which did not end", t.item.Retry)
		r := result{outcome: failedForGood, fate: OutcomeFailed, text: err.Error()}
		l.reportFailure(t, policy, err, &r)
		return r
	}
	t.began = now
	return l.conclude(t, policy, l.call(t, policy))
}

// call runs the handler; a panic is an error with its stack.
func (l *Loop[M]) call(t *task[M], policy RetryPolicy) (err error) {
	returned := false
	defer func() {
		switch v := recover(); {
		case v != nil:
			err = &PanicError{Value: v, Stack: debug.Stack()}
		case !returned:
			l.replace(*t, policy)
		}
	}()
	err = l.cfg.Handle(t.claim.ctx, *t.item)
	returned = true
	return err
}

// errExited is what a handler failed with that took its worker along, as FailNow of
// package testing does.
var errExited = errors.New("handler ended its goroutine (runtime.Goexit) instead of returning")

// replace starts another worker in the place of one that ends, and enters its result.
func (l *Loop[M]) replace(t task[M], policy RetryPolicy) {
	r := l.conclude(&t, policy, errExited)
	r.index = t.index
	l.workers.Go(func() { l.work(l.next(&t, r)) })
}

// conclude is D-15. Errors and policies are the program's: should their methods
// panic, that is the attempt's failure and not the end of the process.
func (l *Loop[M]) conclude(t *task[M], policy RetryPolicy, err error) (r result) {
	defer func() {
		if v := recover(); v != nil {
			r = l.conclude(t, RetryPolicy{MaxAttempts: policy.MaxAttempts}, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	if err == nil {
		return result{outcome: acked, fate: OutcomeAcked}
	}
	if errors.Is(err, ErrSettled) {
		l.stats.bySelf()
		return result{outcome: dropped, fate: OutcomeSettled}
	}
	var snooze *snoozeError
	if errors.As(err, &snooze) {
		fate := OutcomeSnoozed
		if snooze.unhandled {
			l.stats.unhandled()
			fate = OutcomeUnhandled
		}
		l.reportSnooze(t, snooze)
		return result{outcome: released, fate: fate, delay: snooze.delay, unbegun: snooze.ours}
	}
	var permanent *permanentError
	var after *retryAfterError
	final, timed := errors.As(err, &permanent), errors.As(err, &after)
	if t.claim.ctx.Err() != nil && (errors.Is(err, context.Canceled) || !final && !timed && !panicked(err)) {
		return l.interrupted(t)
	}
	r = result{outcome: retried, fate: OutcomeRetried, text: ErrorText(err.Error())}
	switch {
	case final || policy.Exhausted(t.item.Retry+1):
		r.outcome, r.fate = failedForGood, OutcomeFailed
	case timed:
		r.delay = after.delay
		l.reportWish(t, policy, err, r.delay)
		return r
	default:
		r.delay = policy.Wait(t.item.Retry + 1)
	}
	l.reportFailure(t, policy, err, &r)
	return r
}

func panicked(err error) bool {
	var p *PanicError
	return errors.As(err, &p)
}

// interrupted is the result of a handler that failed after we had cancelled
// it. Whatever words it finds for that ("signal: killed"), it is our doing.
func (l *Loop[M]) interrupted(t *task[M]) result {
	if errors.Is(context.Cause(t.claim.ctx), ErrLeaseLost) {
		l.cfg.Logger.Warn("lease lost while handling", "topic", t.item.Topic, "message_id", t.item.MessageID.String())
		return result{outcome: dropped, fate: OutcomeLost}
	}
	return result{outcome: released, fate: OutcomeReleased}
}
