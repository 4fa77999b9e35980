package timer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// alter runs a statement on the table of timers.
func (f *fixture) alter(set string) {
	f.t.Helper()
	_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("timer")+" SET "+set)
	f.check(err)
}

// claimsUpTo claims up to n timers and insists on how many there are.
func (f *fixture) claimsUpTo(n, want int) {
	f.t.Helper()
	got, err := f.WorkQueue().Claim(f.ctx(), outbox.NewOwnerToken(), time.Hour, n)
	f.check(err)
	if len(got) != want {
		f.t.Fatalf("claimed %d timers of up to %d, want %d", len(got), n, want)
	}
}

// D-12: timers whose lease ran out are claimed by halves, before others, and only one
// that was alone has failed an attempt.
func TestSuspectHalves(t *testing.T) { dbtest.Each(t, testSuspectHalves) }

func testSuspectHalves(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.putN(4)
	f.claim(4)
	past := "'2000-01-01'"
	if e.Name == "sqlite" {
		past = "1"
	}
	claims := func(want ...int) {
		t.Helper()
		for _, n := range want {
			f.claimsUpTo(100, n)
		}
	}
	lapse := func() { f.alter("locked_until = " + past + " WHERE status = 1") }
	lapse()
	f.putN(1)
	claims(4, 1)
	lapse()
	claims(2, 2, 1)
	lapse()
	claims(1, 1, 1, 1, 1)
	lapse()
	f.touched(5)(f.WorkQueue().ReapExpired(f.ctx()))
	for _, id := range ids {
		if got := f.get(id, timer.Scheduled); got.RetryCount != 1 || got.LastError != "lease expired" {
			t.Fatalf("%+v", got)
		}
	}
}

// D-9: a timer that cannot be read fails alone, with the reason, and is shown.
func TestUnreadable(t *testing.T) { dbtest.Each(t, testUnreadable) }

func testUnreadable(t *testing.T, e dbtest.Engine) {
	if e.Name == "sqlserver" {
		t.Skip("SQL Server stores nothing that cannot be read")
	}
	f := open(t, e)
	ids := f.putN(3)
	damage := "due_time = '-infinity'"
	if e.Name == "sqlite" {
		damage = "payload = 3.5"
	}
	bad := f.get(ids[1], timer.Scheduled).Position
	_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("UPDATE %s SET %s WHERE id = %d", f.db.Table("timer"), damage, bad))
	f.check(err)
	if all, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{}), 100); err != nil || len(all) != 3 {
		t.Fatalf("listed %d: %v", len(all), err)
	}
	f.claimsUpTo(3, 2)
	if got := f.get(ids[1], timer.Failed); !strings.Contains(got.LastError, "cannot be read") || got.Unreadable == "" {
		t.Fatalf("it shows %q, and failed with %q", got.Unreadable, got.LastError)
	}
}
