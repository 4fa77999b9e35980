package timer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// The work-queue calls, for programs that fire timers themselves (Options.SelfDispatch). A
// claimed timer is not dispatched by another process, and a dispatched one cannot be claimed:
// of all who try, one gets it (D-73).

// Claim claims up to n due timers under a lease, first due first. owner is a token of the
// caller's choice, new for every claim. None due is no error. Timers whose lease has expired
// are claimed apart from others, and one that cannot be read is not returned but fails, with
// the reason; see outbox.Outbox.Claim.
func (t *Timers) Claim(ctx context.Context, owner outbox.OwnerToken, lease time.Duration, n int) ([]*Info, error) {
	switch {
	case owner == outbox.OwnerToken{}:
		return nil, engine.Invalid("owner token", "zero")
	case lease < time.Millisecond:
		return nil, engine.Invalid("lease", "shorter than a millisecond")
	case n < 1:
		return nil, engine.Invalid("batch size", "less than 1")
	}
	for {
		var found []Info
		claim := infoCall(&found, op.TimerClaim{Owner: owner, Lease: lease, Most: min(n, worker.MaxBatch)})
		reap := engine.Ask(op.TimerReap{})
		if err := t.db.Do(ctx, reap, claim); err != nil {
			return nil, err
		}
		claimed := make([]*Info, len(found))
		for i := range found {
			claimed[i] = &found[i]
		}
		t.logReaped(ctx, reap.N)
		t.logClaimed(ctx, owner, len(claimed))
		readable, err := t.failUnreadable(ctx, owner, claimed)
		if err != nil || len(readable) > 0 || len(claimed) == 0 {
			return readable, err
		}
	}
}

// failUnreadable fails, with the reason, the timers of a claim that cannot be read,
// and returns the others.
func (t *Timers) failUnreadable(ctx context.Context, owner outbox.OwnerToken, claimed []*Info) ([]*Info, error) {
	readable := slices.DeleteFunc(slices.Clone(claimed), func(i *Info) bool { return i.Unreadable != "" })
	for _, i := range claimed {
		if i.Unreadable == "" {
			continue
		}
		t.log.ErrorContext(ctx, "timer cannot be read", "timer_id", i.ID.String(), "error", engine.Line(i.Unreadable))
		if _, err := t.Fail(ctx, owner, errors.New(i.Unreadable), i.ID); err != nil {
			if len(readable) == 0 {
				return nil, err
			}
			break // it comes back when its lease expires
		}
	}
	return readable, nil
}

// Ack marks claimed timers as fired, and returns how many owner held.
func (t *Timers) Ack(ctx context.Context, owner outbox.OwnerToken, ids ...ID) (int64, error) {
	return t.settle(ctx, ids, op.TimerAck{TimerHeld: held(owner, ids)})
}

// Fail marks claimed timers as failed for good because of cause, which may be nil,
// and returns how many owner held.
func (t *Timers) Fail(ctx context.Context, owner outbox.OwnerToken, cause error, ids ...ID) (int64, error) {
	return t.settle(ctx, ids, op.TimerFail{TimerHeld: held(owner, ids), Error: reason(cause)})
}

// Abandon puts claimed timers back for another attempt after a backoff of 1, 2, 4
// … 60 s, counts this one as failed because of cause, which may be nil, and returns
// how many owner held.
func (t *Timers) Abandon(ctx context.Context, owner outbox.OwnerToken, cause error, ids ...ID) (int64, error) {
	return t.abandon(ctx, owner, nil, cause, ids)
}

// AbandonAfter is Abandon with a delay in place of the backoff.
func (t *Timers) AbandonAfter(ctx context.Context, owner outbox.OwnerToken, delay time.Duration, cause error, ids ...ID) (int64, error) {
	if delay < 0 {
		return 0, engine.Invalid("delay", "negative")
	}
	return t.abandon(ctx, owner, &delay, cause, ids)
}

func (t *Timers) abandon(ctx context.Context, owner outbox.OwnerToken, delay *time.Duration, cause error, ids []ID) (int64, error) {
	return t.settle(ctx, ids, op.TimerAbandon{TimerHeld: held(owner, ids), Delay: delay, Error: reason(cause)})
}

// reason returns a cause as it is stored; nil for none.
func reason(cause error) *string {
	if cause == nil {
		return nil
	}
	return worker.Optional(worker.ErrorText(fmt.Sprint(cause)))
}

// held identifies timers that owner may have claimed.
func held(owner outbox.OwnerToken, ids []ID) op.TimerHeld {
	h := op.TimerHeld{Owner: owner, TimerIDs: make([][16]byte, len(ids))}
	for i, id := range ids {
		h.TimerIDs[i] = id
	}
	return h
}

// settle runs an operation on claimed timers and returns how many their owner held.
func (t *Timers) settle(ctx context.Context, ids []ID, settle engine.Operation) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	return engine.Exec(ctx, t.db, nil, settle)
}

// ReapExpired puts timers back whose lease has expired, and returns how many; see
// outbox.Outbox.Claim for what counts as a failed attempt. Claim and Run do so by themselves.
func (t *Timers) ReapExpired(ctx context.Context) (int64, error) {
	n, err := worker.Purge(ctx, t.db, op.TimerReap{})
	t.logReaped(ctx, n)
	return n, err
}
