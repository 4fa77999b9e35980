package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-209: the last failed attempts of a message are kept with time, worker and error; a message that
// succeeds at once has none.
func TestAttemptsAreKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{KeptAttempts: 3, Worker: "w1"})
		began := f.get(f.enqueue(outbox.Message{Topic: "t"})).CreatedAt
		good := f.enqueue(outbox.Message{Topic: "t"})
		var bad outbox.Position
		for n := range 4 {
			owner, msgs := f.claim(2)
			for _, m := range msgs {
				if m.Position == good {
					f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, m.Position))
					continue
				}
				bad = m.Position
				f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, fmt.Errorf("error %d", n+1)), m.Position))
			}
		}
		owner, _ := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("the end"), bad))
		f.attempts(good)
		all := f.attempts(bad, "3 w1 error 3", "4 w1 error 4", "5 w1 the end")
		for i, a := range all {
			if a.EndedAt.Before(began) || i > 0 && a.EndedAt.Before(all[i-1].EndedAt) {
				t.Errorf("attempt %d ended at %v, began is %v", i, a.EndedAt, began)
			}
		}
		f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
		owner, _ = f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("again"), bad))
		f.attempts(bad, "4 w1 error 4", "5 w1 the end", "1 w1 again")
	})
}

// attempts insists on the attempts that are kept.
func (f *fixture) attempts(id outbox.Position, want ...string) []acts.Attempt {
	f.t.Helper()
	all, err := f.Operator(access.Key{}).Attempts(f.ctx(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, a := range all {
		got = append(got, fmt.Sprintf("%d %s %s", a.Number, a.Worker, a.Error))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Fatalf("attempts are %q, want %q", got, want)
	}
	return all
}

// D-209: an attempt whose lease expired is one of them, and those of messages that failed together
// are told apart.
func TestAttemptsOfNeighboursAndExpiredLeases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Worker: "w1"})
		ids := f.enqueueN(3)
		owner, _ := f.claimExactly(3)
		f.touched(2)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("both")), ids[0], ids[1]))
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[2]))
		f.attempts(ids[0], "1 w1 both")
		f.attempts(ids[1], "1 w1 both")
		f.attempts(ids[2])
		for range 2 { // the first makes it a suspect, which the second claims alone
			if msgs, err := f.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), time.Millisecond, 1); err != nil || len(msgs) != 1 {
				t.Fatalf("claimed %d, %v", len(msgs), err)
			}
			f.waitUntil(time.Now().Add(20 * time.Millisecond))
			f.touched(1)(f.WorkQueue("").ReapExpired(f.ctx()))
		}
		all, err := f.Operator(access.Key{}).Attempts(f.ctx(), ids[0])
		if err != nil || len(all) != 2 || all[1].Error != "lease expired" || all[1].Number != 2 || all[1].Worker != "" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// D-209: a worker keeps what a handler returned.
func TestWorkersKeepAttempts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{Worker: "w2", StopWhenEmpty: true, Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 0 }}})
		id := f.enqueue(outbox.Message{Topic: "t"})
		n := 0
		f.Handle("t", func(context.Context, *outbox.Message) error {
			if n++; n < 3 {
				return outbox.RetryAfter(0, fmt.Errorf("attempt %d", n))
			}
			return nil
		})
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
		f.status(id, outbox.Done)
		f.attempts(id, "1 w2 attempt 1", "2 w2 attempt 2")
	})
}

// D-403: an attempt that does not count leaves the message its attempts, with the reason and the
// time of the next; it is not among those that failed.
func TestUncountedAttempts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{StopWhenEmpty: true, Retry: &worker.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return time.Hour }}})
		answer := worker.AskForTime(time.Minute, errors.New("not now"))
		f.handle("t", func(context.Context, *outbox.Message) error { return answer })
		ids := []outbox.Position{f.enqueue(outbox.Message{Topic: "t"}), f.enqueue(outbox.Message{Topic: "t", OrderingKey: "k"})}
		for range 3 {
			if err := f.Run(f.ctx()); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				got := f.status(id, outbox.Ready)
				if got.RetryCount != 0 || got.LastError != "not now" || got.NextAttemptAt.Sub(got.CreatedAt) < 59*time.Minute {
					t.Fatalf("%+v", got)
				}
				f.attempts(id)
				if _, err := f.Reschedule(f.ctx(), time.Now(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
		answer = errors.New("no")
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
		if got := f.status(ids[0], outbox.Ready); got.RetryCount != 1 || got.LastError != "no" {
			t.Fatalf("%+v", got)
		}
	})
}
