package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-211: when an item of a line has ended, the next one is claimed at once, without a
// notification; also where the handler settled it.
func TestNextOfALineIsClaimedAtOnce(t *testing.T) {
	testNextIsClaimedAtOnce(t, true, worker.Config[payload]{})
}

// D-214: when an item under a limit has ended, the next one is claimed at once.
func TestLimitedItemsFreePlaces(t *testing.T) {
	testNextIsClaimedAtOnce(t, false, worker.Config[payload]{Limited: func(topic string) bool { return topic == "t" }})
}

// D-214: what has ended under a limit is settled at once, and waits for no others of its claim, which
// may take long: until then its place is used by nothing.
func TestLimitedItemsDoNotWaitForTheirClaim(t *testing.T) {
	bubble(t, func(t *testing.T, s *store) {
		ids := s.add(3, "t", 0)
		cfg := worker.Config[payload]{FlushDelay: 50 * time.Millisecond, Limited: func(string) bool { return true }}
		r := newRig(s, cfg, func(ctx context.Context, i item) error { return until(ctx, time.Duration(i.ID)*20*time.Millisecond) })
		began := time.Now()
		r.start()
		advance(time.Second)
		r.end()
		for _, c := range r.link.calls("exchange") {
			for _, ack := range c.done.Acks {
				if want := time.Duration(ack.ID) * 20 * time.Millisecond; c.at.Sub(began) != want {
					t.Errorf("item %d was settled after %s, want %s", ack.ID, c.at.Sub(began), want)
				}
			}
		}
		for _, id := range ids {
			wantPlace(t, s, id, acked, 0)
		}
	})
}

func testNextIsClaimedAtOnce(t *testing.T, ordered bool, cfg worker.Config[payload]) {
	cfg.PollMin, cfg.PollMax = time.Hour, time.Hour
	for name, oneself := range map[string]bool{"by the loop": false, "by the handler": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *store) {
				first := s.add(1, "t", 0)[0]
				s.entries[0].ordered = ordered
				var next int64
				r := newRig(s, cfg, func(ctx context.Context, i item) error {
					if i.ID != first {
						return nil
					}
					if err := until(ctx, time.Minute); err != nil { // the loop sleeps
						return err
					}
					next = s.add(1, "t", 0)[0]
					if oneself {
						return settleOneself(s, i)
					}
					return nil
				})
				r.start()
				advance(2 * time.Minute)
				r.end()
				wantPlace(t, s, next, acked, 0)
			})
		})
	}
}

// D-863: a loop that has just claimed the next item of a line does not claim again before that has ended, also where
// the ack before it notified all waiters, its own too, as on SQLite.
func TestNextOfALineIsClaimedOnce(t *testing.T) {
	for _, notifies := range []bool{false, true} {
		bubble(t, func(t *testing.T, s *store) {
			const n = 20
			add := func() {
				s.add(1, "t", 0)
				s.entries[len(s.entries)-1].ordered = true
			}
			add()
			r := newRig(s, worker.Config[payload]{PollMin: time.Hour, PollMax: time.Hour}, func(ctx context.Context, i item) error {
				if i.ID < n {
					add()
				}
				return until(ctx, time.Millisecond)
			})
			r.link.before = func(_ context.Context, c *call) error {
				if notifies && len(c.done.Acks) > 0 {
					s.notifyAll()
				}
				return nil
			}
			r.start()
			advance(time.Second)
			exchanges := len(r.link.calls("exchange"))
			r.end()
			if got := s.count(acked); got != n || exchanges > n+3 {
				t.Errorf("%d of %d are acked after %d exchanges with the database (notifies: %v)", got, n, exchanges, notifies)
			}
		})
	}
}
