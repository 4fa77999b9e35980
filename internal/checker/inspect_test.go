package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-110: one look from outside, which has to go by who is there.
func TestInspect(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		o := health.Options{Timeout: 20 * time.Second}
		wants := func(name string, want health.Level, says string) {
			t.Helper()
			r := checker.Inspect(f.ctx(), f.db, o)
			if c := r.Find(name); c == nil || c.Level != want || !strings.Contains(c.Summary, says) {
				t.Fatalf("want %s to be %s and say %q:\n%s", name, want, says, r)
			}
		}
		wants("waiting", health.OK, "nothing is due")
		for range 3 {
			f.enqueue(outbox.Message{Due: time.Now().Add(-time.Hour)})
		}
		_, err := f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Now().Add(-time.Hour)})
		f.check(err)
		wants("waiting/queue/default", health.Problem, "no worker of this queue is alive")
		wants("waiting/timers", health.Problem, "no worker is alive")

		other := registry.New(f.db, quiet(), activity.New())
		other.Show(f.ctx(), registry.Self{Name: "elsewhere:1", Queues: []string{"mail"}})
		wants("waiting/queue/default", health.Problem, "no worker of this queue is alive")
		wants("waiting/timers", health.Warning, "elsewhere:1")
		other.Leave(f.ctx())

		this := registry.New(f.db, quiet(), activity.New())
		this.Show(f.ctx(), registry.Self{Name: "host:17", Queues: []string{"default"}})
		wants("waiting/queue/default", health.Warning, "host:17")
		this.Leave(f.ctx())

		owner := outbox.NewOwnerToken() // of a program that is in no list
		got, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		wants("waiting/queue/default", health.Warning, "holds other messages")
		_, err = f.Outbox.WorkQueue("").Ack(f.ctx(), owner, got[0].Position)
		f.check(err)
		wants("waiting/queue/default", health.OK, "finished")
	})
}

// D-110: a worker that shares its time among databases counts as alive for a day. If
// it did not come by although work is due, it is not there.
func TestInspectWhoSharesItsTime(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, pawl.Options{})
		registry.New(f.db, quiet(), activity.New()).Show(f.ctx(), registry.Self{Name: "fleet:1", Queues: []string{"default"}})
		f.db.Pass(10 * time.Millisecond)
		f.enqueue(outbox.Message{})
		f.db.Pass(10 * time.Millisecond)
		c := checker.Inspect(f.ctx(), f.db, health.Options{Timeout: 20 * time.Second, Waiting: time.Millisecond}).Find("waiting/queue/default")
		if c == nil || c.Level != health.Problem {
			t.Errorf("%+v", c)
		}
	})
}
