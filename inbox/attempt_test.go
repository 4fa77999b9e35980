package inbox_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-51: outside a transaction, too, one at a time and once.
func TestAttempt(t *testing.T) { dbtest.Each(t, testAttempt) }

func testAttempt(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ran := 0
	for range 3 {
		f.check(f.Attempt(f.ctx(), key("a"), func(ctx context.Context) error {
			ran++
			f.is(f.another().Attempt(ctx, key("a"), func(context.Context) error { return nil }), inbox.ErrInProgress)
			f.is(f.Once(ctx, key("a"), f.write("a")), inbox.ErrInProgress)
			if done, err := f.AlreadyProcessed(ctx, key("a")); done || err != nil {
				t.Errorf("done while it is being processed: %v, %v", done, err)
			}
			if got := f.state(key("a"), inbox.Processing, 4, 1); got.LockedUntil.Before(time.Now()) {
				t.Errorf("the lease ends at %v", got.LockedUntil)
			}
			return nil
		}))
	}
	if ran != 1 {
		t.Fatalf("ran %d times", ran)
	}
	if got := f.state(key("a"), inbox.Done, 6, 1); !got.LockedUntil.IsZero() {
		t.Fatalf("the message is %+v", got)
	}
}

// D-53
func TestAttemptFails(t *testing.T) { dbtest.Each(t, testAttemptFails) }

func testAttemptFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 2}})
	f.is(f.Attempt(f.ctx(), key("a"), func(context.Context) error { return errDown }), errDown)
	if got := f.state(key("a"), inbox.Seen, 1, 1); got.LastError != "down" || !got.LockedUntil.IsZero() {
		t.Fatalf("the message is %+v", got)
	}
	f.is(f.Attempt(f.ctx(), key("a"), func(context.Context) error { return errDown }), inbox.ErrDead)
	f.state(key("a"), inbox.Dead, 2, 2)
}

// D-15: putting it off costs no attempt.
func TestAttemptSnoozed(t *testing.T) { dbtest.Each(t, testAttemptSnoozed) }

func testAttemptSnoozed(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 2}})
	for range 5 {
		if err := f.Attempt(f.ctx(), key("a"), func(context.Context) error { return outbox.Snooze(time.Second) }); err == nil || errors.Is(err, inbox.ErrDead) {
			t.Fatal(err)
		}
	}
	f.state(key("a"), inbox.Seen, 5, 0)
}

// D-15: nor does a stop from outside, and the message is free at once.
func TestAttemptCancelled(t *testing.T) { dbtest.Each(t, testAttemptCancelled) }

func testAttemptCancelled(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx, cancel := context.WithCancel(f.ctx())
	f.is(f.Attempt(ctx, key("a"), func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	}), context.Canceled)
	f.state(key("a"), inbox.Seen, 1, 0)
	f.check(f.Attempt(f.ctx(), key("a"), func(context.Context) error { return nil }))
	f.state(key("a"), inbox.Done, 2, 1)
}

// D-51, D-13: an attempt that outlives its lease cannot mark what is another's.
func TestAttemptTakenOver(t *testing.T) { dbtest.Each(t, testAttemptTakenOver) }

func testAttemptTakenOver(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Lease: time.Hour}) // no heartbeat comes in between
	err := f.Attempt(f.ctx(), key("a"), func(ctx context.Context) error {
		f.expire("a")
		return f.another().Attempt(ctx, key("a"), func(context.Context) error { return nil })
	})
	f.is(err, inbox.ErrTakenOver)
	f.state(key("a"), inbox.Done, 2, 2)
	err = f.Attempt(f.ctx(), key("b"), func(ctx context.Context) error {
		f.expire("b")
		f.check(f.another().Attempt(ctx, key("b"), func(context.Context) error { return nil }))
		return errDown // and cannot fail it either
	})
	f.is(err, errDown)
	f.state(key("b"), inbox.Done, 2, 2)
}

// D-13, D-51: nor what another is still at, whether it succeeded or failed.
func TestMarksOfAStaleAttempt(t *testing.T) { dbtest.Each(t, testMarksOfAStaleAttempt) }

func testMarksOfAStaleAttempt(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Lease: time.Hour})
	for id, result := range map[string]error{"a": nil, "b": errDown} {
		begun, end := make(chan struct{}), make(chan struct{})
		second := make(chan error, 1)
		err := f.Attempt(f.ctx(), key(id), func(context.Context) error {
			f.expire(id)
			go func() {
				second <- f.another().Attempt(f.ctx(), key(id), func(context.Context) error {
					close(begun)
					<-end
					return nil
				})
			}()
			<-begun
			return result
		})
		if want := map[bool]error{true: inbox.ErrTakenOver, false: errDown}[result == nil]; !errors.Is(err, want) {
			t.Fatalf("the first attempt ended with %v, want %v", err, want)
		}
		f.state(key(id), inbox.Processing, 2, 2)
		close(end)
		f.check(<-second)
		f.state(key(id), inbox.Done, 2, 2)
	}
}

// expire ends the lease of a message's attempt, as a stop of its process does.
func (f *fixture) expire(id string) {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("inbox")+" SET locked_until_utc = "+f.db.Ago(time.Second)+" WHERE message_id = '"+id+"'"); err != nil {
		f.t.Fatal(err)
	}
}

// D-18: a lease is kept while the function runs, and its loss ends it.
func TestAttemptKeepsItsLease(t *testing.T) { dbtest.Each(t, testAttemptKeepsItsLease) }

func testAttemptKeepsItsLease(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Lease: 12 * time.Second}) // longer than the machine stands still
	f.check(f.Attempt(f.ctx(), key("a"), func(ctx context.Context) error {
		first := f.state(key("a"), inbox.Processing, 1, 1).LockedUntil
		dbtest.Until(t, "the lease is extended", func() bool { return f.state(key("a"), inbox.Processing, 1, 1).LockedUntil.After(first) })
		return ctx.Err()
	}))
	other := f.another()
	err := f.Attempt(f.ctx(), key("b"), func(ctx context.Context) error {
		err := inbox.ErrInProgress
		for errors.Is(err, inbox.ErrInProgress) { // a heartbeat may extend what just ran out
			f.expire("b")
			err = other.Attempt(ctx, key("b"), func(context.Context) error {
				select { // the first one's heartbeat finds out
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(2 * time.Minute):
					return errors.New("the loss went unnoticed")
				}
			})
		}
		return err
	})
	f.is(err, inbox.ErrTakenOver)
}

// D-52, D-53: a message that kills its processors ends as dead.
func TestAttemptKillsItsProcess(t *testing.T) { dbtest.Each(t, testAttemptKillsItsProcess) }

func testAttemptKillsItsProcess(t *testing.T, e dbtest.Engine) {
	f := open(t, e, inbox.Options{Retry: &outbox.RetryPolicy{MaxAttempts: 2}, Lease: time.Hour})
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			_ = f.Attempt(f.ctx(), key("a"), func(context.Context) error { panic("the process is gone") })
		}()
		f.expire("a")
	}
	f.is(f.Attempt(f.ctx(), key("a"), func(context.Context) error { return nil }), inbox.ErrDead)
	f.state(key("a"), inbox.Dead, 3, 2)
}

// late is a database whose answers come late.
type late struct {
	engine.DB
	by time.Duration
}

func (d late) Unwrap() engine.DB { return d.DB }

func (d late) Do(ctx context.Context, calls ...*engine.Call) error {
	err := d.DB.Do(ctx, calls...)
	time.Sleep(d.by)
	return err
}

// D-440: a lease counts from before the request: what was answered when it was over does not begin.
func TestAttemptWhoseLeaseIsOver(t *testing.T) { dbtest.Each(t, testAttemptWhoseLeaseIsOver) }

func testAttemptWhoseLeaseIsOver(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	lease := time.Second
	slow := parts.NewInbox(late{f.db.DB, lease}, inbox.Options{Lease: lease}, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	began := false
	err := slow.Attempt(f.ctx(), key("a"), func(context.Context) error { began = true; return nil })
	if f.is(err, inbox.ErrTakenOver); began {
		t.Error("it began after its lease")
	}
}
