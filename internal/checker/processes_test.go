package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-582, D-610: what live workers measure of themselves is said from outside their processes, and not once
// they are gone.
func TestWorkersMeasureThemselves(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := on(t, e.Open(t), pawl.Options{})
		beat := func(w op.WorkerHeartbeat) {
			t.Helper()
			w.ID, w.Queues, w.Topics, w.Overdue, w.Progress, w.Alive = [16]byte{1}, "[]", "[]", "[]", "[]", time.Minute
			w.Name, w.Host, w.PID = "mailer", "shop-7", 12
			_, err := engine.Exec(t.Context(), f.db, nil, w)
			f.check(err)
		}
		says := func(code, text string) {
			t.Helper()
			if got := f.outside(code, health.Options{}); (got == nil) != (text == "") || got != nil && (got.Level != health.Warning || !strings.Contains(got.Summary, text)) {
				t.Errorf("%s: %v, want %q", code, got, text)
			}
		}
		for _, one := range []struct {
			w                  op.WorkerHeartbeat
			clock, connections string
		}{
			{op.WorkerHeartbeat{ClockAhead: 900_000, Waiting: 4, Connections: 4}, "", ""},
			{op.WorkerHeartbeat{ClockAhead: 600_000_000, Waiting: 400}, "worker mailer (host shop-7, process 12): its clock is 10m ahead of the database's", ""},
			{op.WorkerHeartbeat{ClockAhead: -5_000_000, Waiting: 5, Connections: 4}, "its clock is 5s behind the database's", "mailer (host shop-7, process 12): 5 callers waited for one of the 4 connections"},
			{op.WorkerHeartbeat{}, "", ""},
		} {
			beat(one.w)
			says("clock/mailer", one.clock)
			says("connections/mailer", one.connections)
		}
		beat(op.WorkerHeartbeat{ClockAhead: 600_000_000})
		_, err := engine.Exec(t.Context(), f.db, nil, op.WorkerLeave{ID: [16]byte{1}})
		f.check(err)
		says("clock/mailer", "")
	})
}

// D-611: a limit that keeps messages waiting is said, as a warning once one has waited for as long as
// messages may that nobody claims.
func TestLimitTooLow(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := on(t, e.Open(t), pawl.Options{})
		says := func(waiting time.Duration, level health.Level, text string) {
			t.Helper()
			got := f.outside("limited/mail", health.Options{Waiting: waiting})
			if level == health.OK {
				if got != nil {
					t.Errorf("%v", got)
				}
				return
			}
			if got == nil || got.Level != level || !strings.Contains(got.Summary, text) {
				t.Errorf("%v, want %q", got, text)
			}
		}
		_, err := f.Admin.SetLimit(t.Context(), admin.Topic, "mail", outbox.Limit{Rate: 1, Period: time.Hour}, "")
		f.check(err)
		for range 4 {
			f.enqueue(outbox.Message{Topic: "mail"})
		}
		says(1, health.OK, "")
		_, err = f.Outbox.WorkQueue("").Claim(t.Context(), outbox.OwnerToken{1}, time.Minute, 10)
		f.check(err)
		says(1, health.Warning, "mail: 3 messages wait for the limit of 1 in 1h, the oldest for ")
		says(1, health.Warning, "; the last of them begins in 3h or later")
		says(time.Hour, health.Note, "3 messages wait")
		_, err = f.Admin.RemoveLimit(t.Context(), admin.Topic, "mail")
		f.check(err)
		says(1, health.OK, "")
	})
}
