package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The delays after failed renewals, and the timeout of a renewal before another is sent in
// addition to it.
const (
	retryMin   = 50 * time.Millisecond
	retryMax   = 2 * time.Second
	timeoutMin = 100 * time.Millisecond
	timeoutMax = 5 * time.Second
	// renewalParts is into how many parts the remaining time is divided, so that a connection
	// that does not answer costs one part.
	renewalParts = 4
	// maxConcurrent is how many renewals may be in flight at once.
	maxConcurrent = 4
)

// renewalResult is the result of a renewal.
type renewalResult struct {
	sent time.Time
	held bool
	err  error
}

// keeper renews one lease.
type keeper struct {
	*Lease
	next       time.Time     // when to send
	retryDelay time.Duration // after the next failure
	inFlight   int           // renewals in flight
	results    chan renewalResult
}

// keep renews the lease until it ends. It is the only place that waits, so that a database
// that is slow or does not answer cannot delay the end of the lease.
func (l *Lease) keep() {
	k := &keeper{Lease: l, results: make(chan renewalResult, maxConcurrent)}
	k.plan()
	for l.Err() == nil {
		k.step()
	}
}

// plan schedules the next renewal after one that succeeded.
func (k *keeper) plan() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retryDelay = retryMin
	k.next = renewal(time.Now(), k.sent, k.opts.Duration, k.opts.RenewAt, rand.Float64())
}

// renewal returns when to renew a lease that was requested at sent. Jitter, from 0 to 1, makes
// it earlier by at most a tenth of what is left: of the wait, and of the lease after it
// (D-62).
func renewal(now, sent time.Time, d time.Duration, part, jitter float64) time.Time {
	at := sent.Add(time.Duration(part * float64(d)))
	left := min(max(0, at.Sub(now)), sent.Add(d).Sub(at))
	return at.Add(-time.Duration(jitter * 0.1 * float64(left)))
}

// step waits for the next event and handles it.
func (k *keeper) step() {
	deadline := k.Deadline()
	wake := k.next
	if k.inFlight == maxConcurrent || deadline.Before(wake) {
		wake = deadline
	}
	timer := time.NewTimer(time.Until(wake))
	defer timer.Stop()
	select {
	case <-k.ctx.Done():
	case <-k.renewed:
		k.plan()
	case a := <-k.results:
		k.inFlight--
		k.handle(a)
	case <-timer.C:
		if now := time.Now(); k.inFlight < maxConcurrent && !now.Before(k.next) && now.Before(deadline) {
			k.send(now, deadline)
		}
	}
}

// send starts a renewal, and schedules the next one in case this one is not answered. One that
// timed out may still succeed: its result counts.
func (k *keeper) send(now, deadline time.Time) {
	timeout := min(max(deadline.Sub(now)/renewalParts, timeoutMin), timeoutMax)
	k.next = now.Add(timeout)
	k.inFlight++
	k.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(k.ctx, timeout)
		defer cancel()
		k.results <- k.ask(ctx)
	})
}

func (l *Lease) ask(ctx context.Context) renewalResult {
	a := renewalResult{sent: time.Now()}
	a.held, a.err = l.s.renew(ctx, l.name, l.id, l.opts.Duration)
	return a
}

// handle handles the result of a renewal.
func (k *keeper) handle(a renewalResult) {
	if err := k.apply(a); err == nil {
		k.plan()
		return
	}
	if k.ctx.Err() != nil || a.sent.Before(k.lastSent()) { // ended, or a later one has succeeded
		return
	}
	k.s.log.Warn("could not renew a lease, trying again", "lease", k.name, "owner", k.opts.Owner, "until", k.Deadline(), "error", a.err)
	if at := time.Now().Add(k.retryDelay); at.Before(k.next) {
		k.next = at
	}
	k.retryDelay = min(2*k.retryDelay, retryMax)
}

func (l *Lease) lastSent() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

// apply extends the lease in this process, or ends it.
func (l *Lease) apply(a renewalResult) error {
	if a.err != nil {
		return a.err
	}
	if !a.held {
		return l.markLost()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && a.sent.After(l.sent) {
		l.sent = a.sent
	}
	return l.err
}

// Renew renews the lease now, in addition to the renewals in the background: before a long
// step that cannot be interrupted, for example. It returns nil if the lease then lasts for its
// whole duration, [ErrLost] or [ErrClosed] if it ended, and any other error if the database
// did not answer: the lease then still lasts until its Deadline.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.Err(); err != nil {
		return err
	}
	if err := l.apply(l.ask(ctx)); err != nil {
		if ended := l.Err(); ended != nil && !errors.Is(err, ended) {
			return errors.Join(ended, err)
		}
		return err
	}
	select {
	case l.renewed <- struct{}{}:
	default:
	}
	return nil
}
