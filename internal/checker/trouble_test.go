package checker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// drained returns a process that has handled messages of a topic, and all else that was due.
func drained(t *testing.T, db dbtest.Database, topic string, n int, h outbox.Handler) *fixture {
	t.Helper()
	f := on(t, db, pawl.Options{StopWhenEmpty: true, Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}})
	f.Handle(topic, h)
	for range n {
		f.enqueue(outbox.Message{Topic: topic})
	}
	f.check(f.Run(f.ctx()))
	return f
}

// outside is what a check from outside finds; nil: nothing.
func (f *fixture) outside(code string, o health.Options) *health.Finding {
	f.t.Helper()
	o.Timeout = 20 * time.Second
	r := checker.Inspect(f.ctx(), f.db, o)
	return r.Find(code)
}

// D-573: a topic of which more attempts fail than succeed is reported from outside, with the commonest
// error, as a problem once there are many; recovery ends it. A few failures among many successes are none.
func TestFailingTopics(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		fails := func(every int64, text string) outbox.Handler {
			var n atomic.Int64
			return func(_ context.Context, m *outbox.Message) error {
				if n.Add(1)%every == 0 && (every == 1 || m.RetryCount == 0) {
					return errors.New(text)
				}
				return nil
			}
		}
		f := drained(t, db, "report", 200, fails(50, "busy"))
		if c := f.outside("failing", health.Options{}); c == nil || c.Level != health.OK {
			t.Errorf("2 %% of failures: %+v", c)
		}
		f = drained(t, db, "mail.receipt", 4, fails(1, "dial tcp 10.1.2.3:25: i/o timeout"))
		c := f.outside("failing/mail.receipt", health.Options{})
		if c == nil || c.Level != health.Warning || !strings.Contains(c.Summary, "mail.receipt: 100 % of 8 attempts failed since ") || !strings.Contains(c.Summary, "most often: dial tcp #: i/o timeout") {
			t.Errorf("8 attempts failed: %+v", c)
		}
		if c := f.outside("failing/mail.receipt", health.Options{FailingAttempts: 8}); c == nil || c.Level != health.Problem {
			t.Errorf("with a lower limit: %+v", c)
		}
		if c := f.outside("failing/mail.receipt", health.Options{FailingAttempts: 9}); c == nil || c.Level != health.Warning {
			t.Errorf("with a limit that is not reached: %+v", c)
		}
		if c := f.outside("failed", health.Options{}); c == nil || c.Level != health.Note || !strings.Contains(c.Summary, "4 of them within an hour: mail.receipt (dial tcp #: i/o timeout)") {
			t.Errorf("4 messages failed: %+v", c)
		}
		f = drained(t, db, "mail.receipt", 20, fails(1, "i/o timeout"))
		if c := f.outside("failing/mail.receipt", health.Options{}); c == nil || c.Level != health.Problem {
			t.Errorf("many attempts failed: %+v", c)
		}
		if c := f.outside("failed", health.Options{}); c == nil || c.Level != health.Warning {
			t.Errorf("many messages failed: %+v", c)
		}
		f = drained(t, db, "mail.receipt", 100, fails(1000, ""))
		if c := f.outside("failing", health.Options{}); c == nil || c.Level != health.OK {
			t.Errorf("after recovery: %+v", c)
		}
	})
}

// D-574: messages that workers put back for want of a handler are a problem after a time that can be
// set; a process that never worked says nothing of handlers.
func TestUnhandledFromOutside(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		f.Handle("new.name", newGate().Handle)
		for range 50 {
			f.enqueue(outbox.Message{Topic: "old.name"})
		}
		if c := f.outside("unhandled", health.Options{}); c == nil || c.Level != health.OK {
			t.Errorf("before anybody worked: %+v", c)
		}
		f.run()
		dbtest.Until(t, "a check from outside says so", func() bool {
			c := f.outside("unhandled/old.name", health.Options{Unhandled: time.Hour})
			return c != nil && c.Level == health.Warning && strings.HasPrefix(c.Summary, "50 messages of old.name, the oldest for ")
		})
		b, err := inspect.ReadBacklog(f.ctx(), f.db)
		f.check(err)
		if n, _ := inspect.Of(b.Messages, "unhandled", "ready", "in_flight"); n != 50 {
			t.Errorf("the backlog has %+v", b.Messages)
		}
		for _, a := range b.Messages {
			if a.Topic != "old.name" || a.State == "scheduled" || a.State == "unhandled" && a.Oldest <= 0 {
				t.Errorf("%+v", a)
			}
		}
		if c := f.outside("unhandled/old.name", health.Options{Unhandled: 1}); c == nil || c.Level != health.Problem {
			t.Errorf("after its time: %+v", c)
		}
	})
}
