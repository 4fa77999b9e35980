package outbox_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/throttle"
)

// moved returns how many messages wait in lanes of limits.
func (f *fixture) moved() int {
	f.t.Helper()
	return f.db.Count(f.t, "SELECT COALESCE(SUM(r.n), 0) FROM "+f.db.Table("outbox_ready")+" r JOIN "+f.db.Table("outbox_lane")+" l ON l.id = r.lane WHERE l.kind = 3")
}

// D-667: messages that a limit has room for are claimed where they lie, in the order that a claim without
// limits has; a claim moves the first of each topic that the limit has no room for, and those behind it.
func TestLimitsWithRoomMoveNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlserver" {
			t.Skip("moves every message of a topic with a limit: not changed while no server runs it")
		}
		f := open(t, e)
		f.limit(throttle.Topic, "a", throttle.Bounds{Concurrency: 4})
		f.limit(throttle.Each, "c*", throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 2})
		f.mix("a1", "b1", "c1", "a2", "b2", "c2", "a3", "c3", "b3", "a4", "a5")
		end := f.from("default", 4, "a1", "b1", "c1", "a2")
		if n := f.moved(); n > 0 {
			t.Errorf("%d messages were moved although the limits had room", n)
		}
		f.from("default", 10, "b2", "c2", "a3", "b3", "a4")
		if n := f.moved(); n != 2 {
			t.Errorf("%d messages were moved, want a5 and c3", n)
		}
		end()
		f.from("default", 10, "a5")
		f.db.CheckPlaces(t)
	})
}
