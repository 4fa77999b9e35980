package work_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// Items of one claim that end one after the other, some while results of others are
// on their way to the database, some settled by their handlers themselves: each ends
// once, none is cancelled because others are through, and then nothing is held.
func TestAClaimEndsInParts(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(20, "t", 0)
		r := newRig(s, work.Config[payload]{Lease: time.Second, StopEmpty: true}, func(ctx context.Context, i item) error {
			if err := until(ctx, time.Duration(i.ID-1)/2*70*time.Millisecond); err != nil { // in pairs
				return err
			}
			if i.ID%3 == 0 {
				return settleOneself(s, i)
			}
			return nil
		})
		r.link.before = func(ctx context.Context, c *call) error {
			if c.op == "exchange" && c.nth > 1 {
				return until(ctx, 100*time.Millisecond)
			}
			return nil
		}
		r.start()
		pass(time.Minute)
		select {
		case <-r.done:
		default:
			t.Error("something is held for ever")
		}
		r.end()
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
			for _, x := range wantRuns(t, r, id, 1) {
				if !x.cancelled.IsZero() && x.cancelled.Before(x.end) {
					t.Errorf("item %d was cancelled", id)
				}
			}
		}
		if c := r.loop.Stats().Counts(); c.Settled != 6 || c.Acked != 14 || c.Claimed != 20 {
			t.Errorf("%+v", c)
		}
	})
}

// settleOneself acks an item as a handler does in a transaction of its own.
func settleOneself(s *store, i item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(&work.Settlement{Acks: []work.Held{{Owner: i.Body.owner, ID: i.ID}}})
	return work.ErrSettled
}

// The lease of an item that its handler settled is not kept up, and not missed.
func TestWhatIsSettledByItselfIsHeldNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		s.add(1, "t", 0)
		r := newRig(s, work.Config[payload]{Lease: time.Second, PollMin: time.Minute, PollMax: time.Minute}, func(_ context.Context, i item) error {
			return settleOneself(s, i)
		})
		r.start()
		defer r.end()
		pass(30 * time.Second)
		if n := len(r.link.calls("extend")); n > 0 {
			t.Errorf("%d extensions", n)
		}
		if c := r.loop.Stats().Counts(); c.Lost != 0 || c.Settled != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// D-18: what waits for a handler does not begin once its claim is lost.
func TestNothingOfALostClaimBegins(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		r := newRig(s, work.Config[payload]{Lease: 30 * time.Second, Concurrency: 1}, func(ctx context.Context, i item) error {
			if ctx.Err() != nil {
				t.Errorf("item %d began under a lost lease", i.ID)
			}
			if i.Retry > 0 {
				return nil
			}
			_ = until(ctx, time.Minute)
			return context.Cause(ctx)
		})
		// A batch that is fetched ahead needs handlers that seem quick.
		quick := s.add(5000, "quick", -time.Hour)
		slow := r.handler
		r.handler = func(ctx context.Context, i item) error {
			if i.Topic == "quick" {
				return until(ctx, 100*time.Microsecond)
			}
			return slow(ctx, i)
		}
		r.start()
		defer r.end()
		for s.get(ids[2]).place != leased {
			pass(time.Millisecond)
		}
		if n := s.get(quick[4999]).ends; n != 1 {
			pass(time.Second)
		}
		s.steal(ids...)
		pass(3 * time.Minute)
		for _, id := range ids {
			wantPlace(t, s, id, acked, 1)
		}
	})
}

type megabyte [1 << 20]byte

// oneClaim is a queue that hands out its items at once, and then nothing.
type oneClaim struct{ items []work.Item[*megabyte] }

func (q *oneClaim) Exchange(_ context.Context, _ *work.Settlement, _ work.OwnerToken, _ time.Duration, n int) (items []work.Item[*megabyte], err error) {
	if n > 0 {
		items, q.items = q.items, nil
	}
	return items, nil
}

func (q *oneClaim) Extend(context.Context, []work.Held, time.Duration) (int64, error) {
	return 0, errors.New("nobody asks")
}
func (q *oneClaim) Reap(context.Context) (int64, error)                  { return 0, nil }
func (q *oneClaim) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }
func (q *oneClaim) Sleeper() engine.Sleeper                              { return (&link{s: newStore()}).Sleeper() }

// A payload is let go when its handler is through, not when the last item of its
// claim is.
func TestBodiesAreLetGoBeforeTheirClaimEnds(t *testing.T) {
	body := new(megabyte)
	kept := weak.Make(body)
	q := &oneClaim{[]work.Item[*megabyte]{{ID: 1, Topic: "quick", Body: body}, {ID: 2, Topic: "slow"}}}
	held := true
	loop := work.New(work.Config[*megabyte]{
		Queue: q, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), StopEmpty: true, Concurrency: 2,
		Handle: func(_ context.Context, i work.Item[*megabyte]) error {
			for tries := 0; i.Topic == "slow" && held && tries < 1000; tries++ {
				runtime.GC()
				held = kept.Value() != nil
			}
			return nil
		},
	})
	_ = loop.Run(t.Context())
	if held {
		t.Error("the body of a finished item is still held")
	}
}
