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

// work runs the handler of a task, then those of the tasks that follow.
func (l *Loop[M]) work(t task[M], ok bool) {
	for ok {
		r := l.execute(&t)
		t, ok = l.next(&t, r)
	}
}

// mayStart reports whether a task may start: not while stopping, and not with less than a
// third of its lease left (D-18).
func (l *Loop[M]) mayStart(t *task[M]) (now time.Time, ok bool) {
	left := time.Until(t.deadline)
	now = t.deadline.Add(-left) // one reading of the clock for both
	return now, !t.late && left >= l.cfg.Lease/3 && t.ctx().Err() == nil
}

// execute runs one item's handler and returns the result.
func (l *Loop[M]) execute(t *task[M]) (r result) {
	defer func() { r.index = t.index }()
	now, ok := l.mayStart(t)
	if r, stopped := l.stopped(t); stopped {
		return r
	}
	if !ok {
		return result{outcome: released, reported: OutcomeReleased, notStarted: true}
	}
	if fault := t.item.Fault; fault != nil {
		r := result{outcome: failedForGood, reported: OutcomeFailed, text: ErrorText(fault.Error())}
		l.reportFailure(t, l.cfg.Policy(t.item.Topic), fault, &r)
		return r
	}
	if r, ok := l.paused(t.item.Topic); ok {
		return r
	}
	policy := l.cfg.Policy(t.item.Topic)
	if policy.Exhausted(t.item.Retry) {
		// Its leases expired: it probably ends its worker's process, so it must not run again.
		err := fmt.Errorf("lease expired; gave up after %d attempts, the last of which did not end", t.item.Retry)
		r := result{outcome: failedForGood, reported: OutcomeFailed, text: err.Error()}
		l.reportFailure(t, policy, err, &r)
		return r
	}
	t.started = now
	return l.resultOf(t, policy, l.runHandler(t, policy))
}

// runHandler runs the handler; a panic becomes an error with its stack.
func (l *Loop[M]) runHandler(t *task[M], policy RetryPolicy) (err error) {
	returned := false
	defer func() {
		switch v := recover(); {
		case v != nil:
			err = &PanicError{Value: v, Stack: debug.Stack()}
		case !returned:
			l.replace(*t, policy)
		}
	}()
	err = l.cfg.Handle(t.ctx(), *t.item)
	returned = true
	return err
}

// errExited is the error of a handler that ended its goroutine, as FailNow of package
// testing does.
var errExited = errors.New("handler ended its goroutine (runtime.Goexit) instead of returning")

// replace starts another worker in the place of one that ends, and enters its result.
func (l *Loop[M]) replace(t task[M], policy RetryPolicy) {
	r := l.resultOf(&t, policy, errExited)
	r.index = t.index
	l.workers.Go(func() { l.work(l.next(&t, r)) })
}

// resultOf turns a handler's error into a result (D-15). Errors and policies are the
// program's: a panic of their methods fails the attempt and does not end the process.
func (l *Loop[M]) resultOf(t *task[M], policy RetryPolicy, err error) (r result) {
	defer func() {
		if v := recover(); v != nil {
			r = l.resultOf(t, RetryPolicy{MaxAttempts: policy.MaxAttempts}, &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	if err == nil { // before what errors.As needs on the heap: an allocation a message
		return l.succeeded(t)
	}
	var snooze *snoozeError
	var over *cancelledError
	switch {
	case errors.Is(err, ErrSettled):
		l.stats.settledByHandler()
		return result{outcome: dropped, reported: settledAs(err)}
	case errors.Is(err, ErrExpired):
		t.started = time.Time{}
		return result{outcome: expired, reported: OutcomeExpired}
	case errors.As(err, &snooze):
		return l.snoozed(t, snooze)
	case errors.As(err, &over):
		return l.cancelled(t, over.reason)
	}
	if r, ok := l.stopped(t); ok { // whatever the error says
		return r
	}
	var permanent *permanentError
	var after *retryAfterError
	final, timed := errors.As(err, &permanent), errors.As(err, &after)
	if t.ctx().Err() != nil && (errors.Is(err, context.Canceled) || !final && !timed && !panicked(err)) {
		return l.interrupted(t)
	}
	r = result{outcome: retried, reported: OutcomeRetried, text: ErrorText(err.Error())}
	r.uncounted = !final && timed && after.uncounted && policy.Within(time.Since(t.item.Since))
	switch {
	case final || !r.uncounted && policy.Exhausted(t.item.Retry+1):
		r.outcome, r.reported = failedForGood, OutcomeFailed
	case timed:
		r.delay = max(after.delay, policy.Wait(t.item.Retry+1))
		l.reportRetryAfter(t, policy, err, &r)
		return r
	default:
		r.delay = policy.Wait(t.item.Retry + 1)
	}
	l.reportFailure(t, policy, err, &r)
	return r
}

// succeeded returns the result of a handler that returned nil.
func (l *Loop[M]) succeeded(t *task[M]) result {
	r := result{outcome: acked, reported: OutcomeAcked}
	if l.cfg.Result != nil {
		r.data = l.cfg.Result(t.item.Body)
	}
	return r
}

// snoozed returns the result of a handler that put its item off.
func (l *Loop[M]) snoozed(t *task[M], snooze *snoozeError) result {
	fate := OutcomeSnoozed
	if snooze.unhandled {
		l.stats.unhandled()
		fate = OutcomeUnhandled
	}
	l.reportSnooze(t, snooze)
	return result{outcome: released, reported: fate, delay: snooze.delay, notStarted: snooze.notStarted}
}

func panicked(err error) bool {
	var p *PanicError
	return errors.As(err, &p)
}

// interrupted returns the result of a handler that failed after its context was cancelled,
// whatever its error says ("signal: killed").
func (l *Loop[M]) interrupted(t *task[M]) result {
	if errors.Is(context.Cause(t.ctx()), ErrLeaseLost) {
		l.cfg.Logger.Warn("lease lost while handling", "topic", t.item.Topic, "message_id", t.item.MessageID.String())
		return result{outcome: dropped, reported: OutcomeLost}
	}
	return result{outcome: released, reported: OutcomeReleased}
}
