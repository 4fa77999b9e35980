package pawl

import "github.com/bravellian/pawl/internal/worker"

// Observer is a set of functions that Pawl.Observe registers, for metrics. Those that are
// nil are not called. The others are called by many goroutines at once, those of a worker
// between one claim and the next: they must be quick, and not panic.
//
//	Enqueued      func(queue, topic string, n int)  messages were written, in a caller's transaction perhaps not committed yet
//	Claimed       func(queue string, n int)         a claim returned n messages
//	Attempted     func([]Attempt)                   attempts ended and their outcomes are in the database; do not keep the slice
//	Reaped        func(queue string, n int64)       messages of expired leases are ready again
//	TimersFired   func(n int64)                     timers were dispatched
//	RunsCreated   func(n int64)                     runs of jobs were created
//	JoinsRepaired func(joins, waits int64)          the clean-up repaired joins and woke waits: a bug, or changes by hand
//	LeaseAcquired func(name string, token int64)    a lease begins in this process
//	LeaseEnded    func(name string, lost bool)      it ended; lost: not by Close
type Observer = worker.Observer

// Attempt is one handling of a message, as observers get it: its Queue and Topic, the
// Outcome, how often it failed before (Retry), how long it Waited, when its handler Began
// and how long it Took, whether it was Scheduled, and the *outbox.Message as Body.
type Attempt = worker.Attempt
