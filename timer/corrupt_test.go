package timer_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-544: a timer whose time is far in the past is due for workers, fleets and health, and one that is due never is not.
func TestCorruptTimes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		past, never := "'-infinity'", "'infinity'"
		switch e.Name {
		case "sqlite":
			past, never = "-9223372036854775808", "9223372036854775807"
		case "sqlserver":
			past, never = "'0001-01-01'", "'9999-12-31'"
		}
		f.put(f.due())
		for at, due := range map[string]bool{past: true, never: false} {
			_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("timer")+" SET at = "+at)
			f.check(err)
			polled, _, err := engine.Get(f.ctx(), f.db, op.FleetPoll{Queues: []string{outbox.DefaultQueue}})
			if err != nil || due != (polled.Micros != nil && *polled.Micros <= 0) {
				t.Errorf("%s: %v, %v", at, worker.Value(polled.Micros), err)
			}
			next, _, err := engine.Get(f.ctx(), f.db, op.TimerNextDue{})
			if err != nil || due != (next.Micros != nil && *next.Micros <= 0) {
				t.Errorf("%s: next due %v, %v", at, worker.Value(next.Micros), err)
			}
			if waiting, err := engine.Query(f.ctx(), f.db, op.HealthWaiting{}); err != nil || due != (len(waiting) == 1) {
				t.Errorf("%s: waiting %+v, %v", at, waiting, err)
			}
			if n, _, err := engine.Get(f.ctx(), f.db, op.BacklogCounts{Most: 10}); err != nil || due != (n.TimersDue == 1) {
				t.Errorf("%s: counts %+v, %v", at, n, err)
			}
		}
	})
}
