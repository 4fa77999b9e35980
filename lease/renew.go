package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pauses after failed renewals, and how patient a renewal is with the
// database before another is sent beside it.
const (
	retryMin    = 50 * time.Millisecond
	retryMax    = 2 * time.Second
	patienceMin = 100 * time.Millisecond
	patienceMax = 5 * time.Second
	// tries is into how many parts the time that is left is cut, so that a
	// connection that has gone silent costs one part.
	tries = 4
	// maxConcurrent is how many renewals may be under way at once.
	maxConcurrent = 4
)

// answer is what became of a renewal.
type answer struct {
	sent time.Time
	ours bool
	err  error
}

// keeper renews one lease.
type keeper struct {
	*Lease
	next    time.Time     // when to send
	pause   time.Duration // after the next failure
	flying  int           // renewals under way
	answers chan answer
}

// keep renews the lease until it ends. It is the only place that waits, so that
// neither a slow nor a silent database can delay the end of the trusted time.
func (l *Lease) keep() {
	k := &keeper{Lease: l, answers: make(chan answer, maxConcurrent)}
	k.plan()
	for l.Err() == nil {
		k.step()
	}
}

// plan sets the next renewal by the last one that succeeded.
func (k *keeper) plan() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pause = retryMin
	k.next = renewal(time.Now(), k.sent, k.opts.Duration, k.opts.RenewAt, rand.Float64())
}

// renewal says when to renew a lease that was asked for at sent. Jitter, from 0
// to 1, makes it earlier by at most a tenth of what is left: of the wait, and
// of the lease behind it (D-62).
func renewal(now, sent time.Time, d time.Duration, part, jitter float64) time.Time {
	at := sent.Add(time.Duration(part * float64(d)))
	left := min(max(0, at.Sub(now)), sent.Add(d).Sub(at))
	return at.Add(-time.Duration(jitter * 0.1 * float64(left)))
}

// step waits for whatever comes first, and deals with it.
func (k *keeper) step() {
	deadline := k.Deadline()
	wake := k.next
	if k.flying == maxConcurrent || deadline.Before(wake) {
		wake = deadline
	}
	timer := time.NewTimer(time.Until(wake))
	defer timer.Stop()
	select {
	case <-k.ctx.Done():
	case <-k.poked:
		k.plan()
	case a := <-k.answers:
		k.flying--
		k.heed(a)
	case <-timer.C:
		if now := time.Now(); k.flying < maxConcurrent && !now.Before(k.next) && now.Before(deadline) {
			k.send(now, deadline)
		}
	}
}

// send asks for a renewal, and for the time when the next is due if this one is
// not answered. One that was given up may still succeed: its answer counts.
func (k *keeper) send(now, deadline time.Time) {
	patience := min(max(deadline.Sub(now)/tries, patienceMin), patienceMax)
	k.next = now.Add(patience)
	k.flying++
	k.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(k.ctx, patience)
		defer cancel()
		k.answers <- k.ask(ctx)
	})
}

func (l *Lease) ask(ctx context.Context) answer {
	a := answer{sent: time.Now()}
	a.ours, a.err = l.s.renew(ctx, l.name, l.id, l.opts.Duration)
	return a
}

// heed does what an answer asks for.
func (k *keeper) heed(a answer) {
	if err := k.learn(a); err == nil {
		k.plan()
		return
	}
	if k.ctx.Err() != nil || a.sent.Before(k.lastSent()) { // ended, or a later one has succeeded
		return
	}
	k.s.log.Warn("could not renew a lease, trying again", "lease", k.name, "owner", k.opts.Owner, "until", k.Deadline(), "error", a.err)
	if at := time.Now().Add(k.pause); at.Before(k.next) {
		k.next = at
	}
	k.pause = min(2*k.pause, retryMax)
}

func (l *Lease) lastSent() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

// learn moves the trusted time, or ends it.
func (l *Lease) learn(a answer) error {
	if a.err != nil {
		return a.err
	}
	if !a.ours {
		return l.disown()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && a.sent.After(l.sent) {
		l.sent = a.sent
	}
	return l.err
}

// Renew renews the lease now, beside the renewals in the background: before a
// long step that cannot be cut short, say. It returns nil if the lease then
// lasts for its whole duration, [ErrLost] or [ErrClosed] if it ended, and any
// other error if the database could not be asked: the lease then still lasts
// until its Deadline.
func (l *Lease) Renew(ctx context.Context) error {
	if err := l.Err(); err != nil {
		return err
	}
	if err := l.learn(l.ask(ctx)); err != nil {
		if ended := l.Err(); ended != nil && !errors.Is(err, ended) {
			return errors.Join(ended, err)
		}
		return err
	}
	select {
	case l.poked <- struct{}{}:
	default:
	}
	return nil
}

// TryRenewNow is Renew for those who only want to know whether it worked.
func (l *Lease) TryRenewNow(ctx context.Context) bool { return l.Renew(ctx) == nil }
