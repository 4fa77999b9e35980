package admin_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// A drain ends beside a paused topic, has met each of its messages once, and the
// next one meets none.
func TestParkedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(40, "p", "q")
		f.pause(admin.Topic, "p")
		count := newTally()
		first := f.drain(count.Handle)
		count.once(t, 40)
		f.status(outbox.Done, ids["q"]...)
		f.counts(outbox.Counts{Ready: 40, Done: 40})
		f.wantParked(40)
		for id, n := range first.seen.PerMessage(worker.OutcomePaused) {
			if n != 1 {
				t.Fatalf("message %v was parked %d times", id, n)
			}
		}
		if c := first.Internal(access.Key{}).Stats(); c.Claimed != 80 || c.Paused != 40 || c.Acked != 40 || c.Released != 0 || len(first.seen.Attempts("p")) != 40 {
			t.Fatalf("the drain did %+v", c)
		}
		if c := f.drain(count.Handle).Internal(access.Key{}).Stats(); c.Claimed != 0 {
			t.Fatalf("the next drain did %+v", c)
		}
		late := f.mixed(3, "p", "u")
		if c := f.drain(count.Handle).Internal(access.Key{}).Stats(); c.Claimed != 6 || c.Paused != 3 || c.Acked != 3 {
			t.Fatalf("the drain after new ones did %+v", c)
		}
		f.wantParked(43)
		f.resume(admin.Topic, "p")
		f.wantParked(0)
		f.drain(count.Handle)
		f.status(outbox.Done, append(ids["p"], late["p"]...)...)
		count.once(t, 86)
		f.db.CheckPlaces(t)
	})
}

// What comes back is due when it was, in its queue, at its priority, with its
// attempts on its account.
func TestParkedKeepsAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		now := time.Now()
		var ids []outbox.Position
		for i := range 12 {
			m := outbox.Message{Topic: "p", Due: now.Add(time.Duration(-i-1) * time.Minute), Priority: []int{0, 5, -5}[i%3]}
			if i%4 == 3 {
				m.Queue = "other"
			}
			ids = append(ids, f.put(m))
		}
		queues := []string{outbox.DefaultQueue, "other"}
		owner := outbox.NewOwnerToken()
		msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 4)
		f.check(err)
		for _, m := range msgs {
			_, err := f.Outbox.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("not yet")), m.Position)
			f.check(err)
		}
		var before []*outbox.Info
		for _, id := range ids {
			before = append(before, f.get(id))
		}
		same := func() {
			t.Helper()
			for i, id := range ids {
				got, want := f.get(id), before[i]
				if got.Status != want.Status || got.RetryCount != want.RetryCount || got.Queue != want.Queue || got.Priority != want.Priority ||
					got.LastError != want.LastError || !got.NextAttemptAt.Equal(want.NextAttemptAt) || !got.Due.Equal(want.Due) {
					t.Fatalf("message %d is %+v, was %+v", id, got, want)
				}
			}
		}
		f.pause(admin.Topic, "p")
		f.drain(done, queues...)
		f.wantParked(12)
		same()
		f.resume(admin.Topic, "p")
		f.wantParked(0)
		same()
		for _, queue := range queues {
			var want []outbox.Position
			for _, b := range before {
				if b.Queue == queue {
					want = append(want, b.Position)
				}
			}
			slices.SortFunc(want, func(a, b outbox.Position) int {
				x, y := f.get(a), f.get(b)
				if x.Priority != y.Priority {
					return x.Priority - y.Priority
				}
				return x.NextAttemptAt.Compare(y.NextAttemptAt)
			})
			var got []outbox.Position
			for range want {
				msgs, err := f.Outbox.WorkQueue(queue).Claim(f.ctx(), outbox.NewOwnerToken(), time.Minute, 1)
				if err != nil || len(msgs) != 1 {
					t.Fatalf("claimed %d of queue %s: %v", len(msgs), queue, err)
				}
				got = append(got, msgs[0].Position)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("queue %s came back as %v, want %v", queue, got, want)
			}
		}
	})
}

// park parks n ids from lo.
func (f *fixture) park(owner outbox.OwnerToken, lo outbox.Position, n int64, topic string) int64 {
	f.t.Helper()
	call := engine.Ask(op.OutboxPark{Runs: []op.Parked{{Held: op.Held{Owner: owner, Lo: int64(lo), N: int(n)}, Topic: topic}}})
	f.check(f.db.Do(f.ctx(), call))
	return call.N
}

// claim takes exactly n messages of the default queue.
func (f *fixture) claim(lease time.Duration, n int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, lease, n)
	f.check(err)
	if len(msgs) != n {
		f.t.Fatalf("claimed %d messages, want %d", len(msgs), n)
	}
	return owner, msgs
}

// Only the owner of the lease parks messages, and exactly those that it names.
func TestParkNeedsTheLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(10, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(lost, 10)
		if n := f.park(outbox.NewOwnerToken(), ids[0], 10, "p"); n != 0 {
			t.Fatalf("a stranger parked %d messages", n)
		}
		if n := f.park(owner, ids[3], 4, "p"); n != 4 {
			t.Fatalf("%d messages were parked, want 4", n)
		}
		if n := f.park(owner, ids[3], 4, "p"); n != 0 {
			t.Fatalf("%d messages were parked twice", n)
		}
		f.wantParked(4)
		f.counts(outbox.Counts{Ready: 4, InProgress: 6})
		f.db.CheckPlaces(t)
		f.db.Pass(lost + 20*time.Millisecond)
		if n, err := f.Outbox.WorkQueue("").ReapExpired(f.ctx()); err != nil || n != 6 {
			t.Fatal(n, err)
		}
		if n := f.park(owner, ids[0], 10, "p"); n != 0 {
			t.Fatalf("%d messages were parked by who had lost them", n)
		}
		f.wantParked(4)
		f.db.CheckPlaces(t)
		f.resume(admin.Topic, "p")
		count := newTally()
		f.drain(count.Handle)
		count.once(t, 10)
	})
}

// lost is a lease that a test waits for, and yet longer than a busy machine takes
// between some statements.
const lost = 2 * time.Second

// What is not paused, or no more, goes back to where it was.
func TestParkWithoutPause(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		before := f.get(ids[5])
		back := func() {
			t.Helper()
			owner, _ := f.claim(time.Minute, 6)
			if n := f.park(owner, ids[0], 6, "p"); n != 6 {
				t.Fatalf("%d messages went back, want 6", n)
			}
			f.wantParked(0)
			f.counts(outbox.Counts{Ready: 6})
			if got := f.get(ids[5]); !got.NextAttemptAt.Equal(before.NextAttemptAt) || got.RetryCount != 0 || got.Queue != outbox.DefaultQueue {
				t.Fatalf("it came back as %+v", got)
			}
			f.db.CheckPlaces(t)
		}
		back()
		f.pause(admin.Queue, "p") // a queue of that name
		back()
		f.pause(admin.Topic, "P")
		back()
		f.pause(admin.Topic, "p")
		note := engine.Ask(op.PauseEnd{Kind: "topic", Name: "p", Note: op.Note{ID: &[16]byte{1}, Actor: "nobody", Target: "p"}})
		f.check(f.db.Do(f.ctx(), note))
		if all := f.paused(); !all[2].Ending {
			t.Fatalf("it does not end: %+v", all)
		}
		back()
		f.resume(admin.Topic, "p")
		back()
	})
}

// A worker that dies with messages of a paused topic loses them to the lane of
// their queue: they are parked when they are claimed again.
func TestCrashWithPausedTopic(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(5, "p")["p"]
		f.claim(lost, 5)
		f.pause(admin.Topic, "p")
		f.db.Pass(lost + 20*time.Millisecond)
		f.drain(done)
		f.wantParked(5)
		f.counts(outbox.Counts{Ready: 5})
		for _, id := range ids {
			if got := f.get(id); got.RetryCount != 0 || got.LastError != "" {
				t.Fatalf("message %d is %+v", id, got)
			}
		}
		f.resume(admin.Topic, "p")
		count := newTally()
		f.drain(count.Handle)
		count.once(t, 5)
	})
}

// Parked messages are listed and counted as ready.
func TestParkedIsSeen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(5, "p", "q")["p"]
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.wantParked(5)
		list, err := engine.Collect(f.Outbox.List(f.ctx(), outbox.ListOptions{Status: outbox.Ready, Topic: "p"}), 100)
		if err != nil || len(list) != 5 || list[4].Position != ids[0] || list[0].Queue != outbox.DefaultQueue {
			t.Fatalf("listed %d: %v", len(list), err)
		}
		f.status(outbox.Ready, ids...)
		f.counts(outbox.Counts{Ready: 5, Done: 5})
		if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox")+" WHERE topic = 'p' AND status = 0"); n != 5 {
			t.Fatalf("the view has %d of 5", n)
		}
	})
}

func TestQueueAndTopicPaused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(4, "p")["p"]
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.pause(admin.Queue, outbox.DefaultQueue)
		f.resume(admin.Topic, "p")
		f.wantParked(0)
		if c := f.drain(done).Internal(access.Key{}).Stats(); c.Claimed != 0 {
			t.Fatalf("the drain did %+v", c)
		}
		f.status(outbox.Ready, ids...)
		f.resume(admin.Queue, outbox.DefaultQueue)
		f.drain(done)
		f.status(outbox.Done, ids...)
	})
}
