package timer

import (
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// WorkQueue returns the queue of timers, for programs that fire them themselves
// (Options.SelfDispatch). A claimed timer is not dispatched by another process, and a dispatched one
// cannot be claimed.
func (t *Timers) WorkQueue() *outbox.WorkQueue[Info, ID] {
	return outbox.NewWorkQueue(access.Key{}, queue.Work[Info, ID]{Claim: t.claim, Settle: t.settle, Reap: t.reap})
}

func (t *Timers) claim(ctx context.Context, owner [16]byte, lease time.Duration, n int) ([]*Info, error) {
	for {
		var found []Info
		claim := engine.ListAs(op.TimerClaim{Owner: owner, Lease: lease, Most: n}, &found, info)
		reap := engine.Ask(op.TimerReap{})
		if err := t.db.Do(ctx, reap, claim); err != nil {
			return nil, err
		}
		claimed := engine.Mapped(found, func(i *Info) *Info { return i })
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
func (t *Timers) failUnreadable(ctx context.Context, owner [16]byte, claimed []*Info) ([]*Info, error) {
	readable := slices.DeleteFunc(slices.Clone(claimed), func(i *Info) bool { return i.Unreadable != "" })
	for _, i := range claimed {
		if i.Unreadable == "" {
			continue
		}
		t.log.ErrorContext(ctx, "timer cannot be read", "timer_id", i.ID.String(), "error", engine.Line(i.Unreadable))
		if _, err := t.settle(ctx, owner, []ID{i.ID}, queue.Outcome{As: queue.Failed, Error: worker.Optional(worker.ErrorText(i.Unreadable))}); err != nil {
			if len(readable) == 0 {
				return nil, err
			}
			break // it comes back when its lease expires
		}
	}
	return readable, nil
}

// settle ends the claim of timers.
func (t *Timers) settle(ctx context.Context, owner [16]byte, ids []ID, as queue.Outcome) (int64, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	held := op.TimerHeld{Owner: owner, TimerIDs: engine.Mapped(ids, func(id *ID) [16]byte { return *id })}
	var settle engine.Operation = op.TimerAck{TimerHeld: held}
	switch as.As {
	case queue.Abandoned:
		settle = op.TimerAbandon{TimerHeld: held, Delay: as.Delay, Error: as.Error}
	case queue.Failed:
		settle = op.TimerFail{TimerHeld: held, Error: as.Error}
	}
	return engine.Exec(ctx, t.db, nil, settle)
}

// reap puts timers back whose lease has expired, and returns how many.
func (t *Timers) reap(ctx context.Context) (int64, error) {
	n, err := worker.Purge(ctx, t.db, op.TimerReap{})
	t.logReaped(ctx, n)
	return n, err
}
