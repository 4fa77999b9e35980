package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
)

// WorkQueue claims what is due and settles it, for programs that run a loop of their own: messages
// ([Outbox.WorkQueue]), timers and runs of jobs (WorkQueue of packages timer and job). Of all who
// try, workers included, one gets an item.
//
// The program chooses an owner token, new for every claim; only with that token can the items be
// settled. Ids that are unknown, duplicates, or claimed by another owner are ignored: the number
// returned is that of the others. A WorkQueue is safe for concurrent use.
type WorkQueue[T, ID any] struct {
	work queue.Work[T, ID]
}

// NewWorkQueue is for components.
func NewWorkQueue[T, ID any](_ access.Key, w queue.Work[T, ID]) *WorkQueue[T, ID] {
	return &WorkQueue[T, ID]{w}
}

// Claim claims up to n due items under a lease, oldest due first. None due is no error.
//
// Items whose lease has expired are due, but are claimed apart from others and before them,
// because one of them may have ended the process that held it: claim when you hold nothing. If it
// happens again, fewer of them are returned by one claim. An expired lease counts as a failed
// attempt only for an item that was claimed alone, as one of those.
//
// An item that cannot be read is not returned: it fails, with the reason.
func (q *WorkQueue[T, ID]) Claim(ctx context.Context, owner OwnerToken, lease time.Duration, n int) ([]*T, error) {
	switch {
	case owner == OwnerToken{}:
		return nil, engine.Invalid("owner token", "zero")
	case lease < time.Millisecond:
		return nil, engine.Invalid("lease", "shorter than a millisecond")
	case n < 1:
		return nil, engine.Invalid("batch size", "less than 1")
	}
	return q.work.Claim(ctx, owner, lease, min(n, worker.MaxBatch))
}

// Ack marks items as handled: messages are done, timers have fired, runs have succeeded.
func (q *WorkQueue[T, ID]) Ack(ctx context.Context, owner OwnerToken, ids ...ID) (int64, error) {
	return q.work.Settle(ctx, owner, ids, queue.Outcome{})
}

// Abandon puts items back for another attempt, and counts this one as failed because of cause,
// which may be nil. The attempt begins after the default backoff, 1, 2, 4, … 60 s, or after d if
// cause is or wraps [RetryAfter](d, err): here d may be shorter than the backoff, and 0 is at once.
func (q *WorkQueue[T, ID]) Abandon(ctx context.Context, owner OwnerToken, cause error, ids ...ID) (int64, error) {
	return q.work.Settle(ctx, owner, ids, queue.Outcome{As: queue.Abandoned, Delay: worker.AskedDelay(cause), Error: causeText(cause)})
}

// Fail marks items as failed for good because of cause, which may be nil.
func (q *WorkQueue[T, ID]) Fail(ctx context.Context, owner OwnerToken, cause error, ids ...ID) (int64, error) {
	return q.work.Settle(ctx, owner, ids, queue.Outcome{As: queue.Failed, Error: causeText(cause)})
}

// ReapExpired puts items back whose lease has expired, and returns how many; see Claim for how they
// are claimed again. Claim and workers do so by themselves. Runs of jobs are messages: all of these
// are put back.
func (q *WorkQueue[T, ID]) ReapExpired(ctx context.Context) (int64, error) { return q.work.Reap(ctx) }

func causeText(cause error) *string {
	if cause == nil {
		return nil
	}
	return worker.Optional(worker.ErrorText(fmt.Sprint(cause)))
}
