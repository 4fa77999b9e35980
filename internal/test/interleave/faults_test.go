package interleave_test

import (
	"errors"
	"testing"

	. "github.com/bravellian/pawl/internal/test/interleave"
)

// A fault in a routine is found by a schedule of some scenario, and by the same schedule again.
// All but the first need sessions that are stopped within transactions: one after the other they
// do everything right.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, scenario string
		Fault
	}{
		{"an ack without its token", "a borrowed token", Fault{"outbox_ack_runs", " AND c.owner = r.owner RETURNING", " RETURNING"}},
		{"an attach that does not hold claimed messages", "attach and ack", Fault{"outbox_hold", "x WHERE x.lo <= v_id) AND c.lo + c.n > v_id FOR KEY SHARE", "x WHERE x.lo <= v_id) AND c.lo + c.n > v_id"}},
		{"counting in joins that are not locked", "one step too many", Fault{"outbox_join_settle", " ORDER BY j.join_id FOR NO KEY UPDATE", ""}},
		{"parking a wait of a join that is not locked", "the last steps and the wait", Fault{"outbox_join_park", " FOR SHARE", ""}},
		{"an acquisition without a lock", "acquisitions of what expired", Fault{"lease_acquire_row", "WHERE l.name = p_name FOR UPDATE", "WHERE l.name = p_name"}},
		{"a guard without a lock", "a guarded transaction", Fault{"lease_guard_row", " FOR KEY SHARE", ""}},
		{"a dispatch of timers that are not locked", "dispatch and cancel", Fault{"timer_dispatch", " FOR NO KEY UPDATE SKIP LOCKED", ""}},
		{"an extension of what is not locked", "settling parts of one run", Fault{"outbox_extend_runs", " ORDER BY x.lo FOR NO KEY UPDATE", " ORDER BY x.lo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := onPostgres(t, tt.Fault)
			for _, s := range scenarios() {
				if s.Name != tt.scenario {
					continue
				}
				m.Set(&s)
				r, err := Explore(m, Options{Most: 600, Systematic: 400, Preemptions: 2, Seed: 1})
				var f *Failure
				if !errors.As(err, &f) {
					t.Fatalf("%d schedules found nothing: %v", r.Schedules, err)
				}
				t.Logf("found after %d others: %s\n%v", r.Schedules, f.Schedule, f.Err)
				if again := Replay(m, f.Schedule); !errors.As(again, &f) {
					t.Errorf("again: %v", again)
				}
				return
			}
			t.Fatal("no such scenario")
		})
	}
}
