package worker

import (
	"sync/atomic"
	"time"
)

// Stats counts what a loop did. It is safe for concurrent use.
type Stats struct {
	claims, acks, retries, failures, releases, parks, expirations, unhandledCount, reaps, losses, errs, selfSettled atomic.Int64
	held, busy                                                                                                      atomic.Int64

	// Tracker reports whether the loop is alive.
	Tracker LoopTracker
}

// Counts is a copy of the counters.
type Counts struct {
	Claimed   int64 // items claimed
	Acked     int64 // handled successfully
	Retried   int64 // put back after a failed attempt
	Failed    int64 // failed for good
	Expired   int64 // ended without an attempt, which would have come too late
	Released  int64 // put back without counting an attempt
	Unhandled int64 // of those: no handler here
	Paused    int64 // parked until their topic's pause ends
	Settled   int64 // settled by their handlers themselves
	Reaped    int64 // brought back from expired leases
	Lost      int64 // claims whose lease was lost while held
	Errors    int64 // exchanges with the database that failed
	InFlight  int64 // held at the moment
	Running   int64 // of those: their handlers run
	// LastSuccess is when the database last answered; zero if never.
	LastSuccess time.Time
}

// Counts returns the counters as they are now.
func (s *Stats) Counts() Counts {
	c := Counts{
		Claimed: s.claims.Load(), Acked: s.acks.Load(), Retried: s.retries.Load(), Failed: s.failures.Load(), Expired: s.expirations.Load(), Released: s.releases.Load(),
		Unhandled: s.unhandledCount.Load(), Settled: s.selfSettled.Load(), Reaped: s.reaps.Load(), Lost: s.losses.Load(), Errors: s.errs.Load(),
		Paused: s.parks.Load(), InFlight: s.held.Load(), Running: s.busy.Load(), LastSuccess: s.Tracker.lastSuccess(),
	}
	return c
}

// Add returns the sum of two sets of counters.
func (c Counts) Add(d Counts) Counts {
	c.Claimed += d.Claimed
	c.Acked += d.Acked
	c.Retried += d.Retried
	c.Failed += d.Failed
	c.Expired += d.Expired
	c.Released += d.Released
	c.Unhandled += d.Unhandled
	c.Settled += d.Settled
	c.Reaped += d.Reaped
	c.Lost += d.Lost
	c.Errors += d.Errors
	c.Paused += d.Paused
	c.InFlight += d.InFlight
	c.Running += d.Running
	if d.LastSuccess.After(c.LastSuccess) {
		c.LastSuccess = d.LastSuccess
	}
	return c
}

// Handled returns how many items were finished here: acked, failed for good, expired, or
// settled by their handlers.
func (c Counts) Handled() int64 { return c.Acked + c.Failed + c.Expired + c.Settled }

func (s *Stats) settled(done *Settlement, at time.Time) {
	s.acks.Add(countTaken(done, done.Acks, func(Held) bool { return true }, func(h Held) Held { return h }))
	s.retries.Add(countTaken(done, done.Retries, func(Retry) bool { return true }, func(r Retry) Held { return r.Held }))
	s.failures.Add(countTaken(done, done.Failures, func(f Failure) bool { return !f.Expired }, func(f Failure) Held { return f.Held }))
	s.expirations.Add(countTaken(done, done.Failures, func(f Failure) bool { return f.Expired }, func(f Failure) Held { return f.Held }))
	s.releases.Add(countTaken(done, done.Releases, func(Release) bool { return true }, func(r Release) Held { return r.Held }))
	s.parks.Add(countTaken(done, done.Parks, func(Park) bool { return true }, func(p Park) Held { return p.Held }))
	s.Tracker.succeeded(at)
}

// countTaken returns how many of the results that count the database took.
func countTaken[T any](done *Settlement, all []T, counts func(T) bool, held func(T) Held) (n int64) {
	for _, one := range all {
		if _, missed := done.Missed[held(one)]; !missed && counts(one) {
			n++
		}
	}
	return n
}

func (s *Stats) claimed(n int)     { s.claims.Add(int64(n)) }
func (s *Stats) settledByHandler() { s.selfSettled.Add(1) }
func (s *Stats) unhandled()        { s.unhandledCount.Add(1) }
func (s *Stats) reaped(n int64)    { s.reaps.Add(n) }
func (s *Stats) lost()             { s.losses.Add(1) }

func (s *Stats) failed(err error) {
	s.errs.Add(1)
	s.Tracker.failed(err)
}

// holds records how many items are in flight, and how many handlers run.
func (s *Stats) holds(held, busy int) {
	s.held.Store(int64(held))
	s.busy.Store(int64(busy))
}
