package activity_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

type fixture struct {
	*testing.T
	db dbtest.Database
	c  *activity.Counters
}

func each(t *testing.T, f func(f *fixture)) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) { f(&fixture{t, e.Open(t), activity.New()}) })
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// acked counts messages of a topic that were done.
func (f *fixture) acked(topic string, n int) {
	some := make([]worker.Attempt, n)
	for i := range some {
		some[i] = worker.Attempt{Queue: "q", Topic: topic, Outcome: worker.OutcomeAcked}
	}
	f.c.Observer().Attempted(some)
}

// write writes what is pending. If the answer is lost, the counters are not told that it was written.
func (f *fixture) write(lost bool) {
	f.Helper()
	f.check(f.c.Sync(f.Context(), f.db))
	calls, written := f.c.Pending()
	if len(calls) > 0 {
		f.check(f.db.Do(f.Context(), calls...))
	}
	if !lost {
		written()
	}
}

// sums returns what is done by topic, of a grain.
func (f *fixture) sums(grain int) map[string]int64 {
	f.Helper()
	all := map[string]int64{}
	f.check(activity.Each(f.Context(), f.db, op.ActivityList{Grain: grain, Until: 1 << 40, Most: 10_000}, func(r *op.Activity, t *activity.Totals) { all[r.Topic] += t.Done }))
	return all
}

// D-571: a write whose answer was lost is repeated and counts once, and so do numbers of the same
// minute that are written again.
func TestWritesAreRepeated(t *testing.T) {
	each(t, func(f *fixture) {
		f.acked("a", 3)
		f.write(true)
		f.write(true)
		f.acked("a", 2)
		f.write(false)
		f.write(false)
		if calls, _ := f.c.Pending(); len(calls) != 0 {
			t.Errorf("%d writes are pending", len(calls))
		}
		f.acked("a", 1)
		f.write(false)
		if got := f.sums(1); got["a"] != 6 {
			t.Error(got)
		}
	})
}

// D-571: topics beyond the first 200 of a minute are counted together.
func TestTopicsAreBounded(t *testing.T) {
	each(t, func(f *fixture) {
		for i := range 250 {
			f.acked(fmt.Sprint("t", i), 1)
		}
		f.write(false)
		if got := f.sums(1); len(got) > 201 || got[""] < 49 || got["t0"] != 1 {
			t.Errorf("%d topics, of the rest %d", len(got), got[""])
		}
	})
}

// D-572: hours are added up once they ended, whoever does it and however often; minutes go after a
// day, hours after 30 days.
func TestCleanUpAddsUp(t *testing.T) {
	each(t, func(f *fixture) {
		clock, _, err := engine.Get(f.Context(), f.db, op.ClockNow{})
		f.check(err)
		now := clock.Now.Unix() / 60
		this := now / 60 * 60
		put := func(grain, minute, done int64, worker byte) {
			f.Helper()
			totals := activity.Totals{Done: done, Created: map[int64]int64{minute: done}, Errors: map[string]int64{"e": 1}}
			_, err := engine.Exec(f.Context(), f.db, nil, op.ActivityPut{Activity: totals.Row(grain, minute, "q", "t", uuid.UUID{worker})})
			f.check(err)
		}
		put(60, now-31*24*60, 1000, 0)
		put(1, this-26*60, 1, 1)
		put(1, this-120, 10, 1)
		put(1, this-120, 20, 2)
		put(1, this-61, 30, 1)
		put(1, now, 500, 1)
		for range 2 {
			_, err := activity.CleanUp(f.Context(), f.db)
			f.check(err)
		}
		if minutes, hours := f.sums(1)["t"], f.sums(60)["t"]; minutes != 560 || hours != 61 {
			t.Errorf("minutes have %d, hours %d", minutes, hours)
		}
		put(1, this-120, 25, 2) // its process could not write for an hour
		_, err = activity.CleanUp(f.Context(), f.db)
		f.check(err)
		if hours := f.sums(60)["t"]; hours != 66 {
			t.Errorf("hours have %d after a late write", hours)
		}
	})
}

// D-571: where a clock is set back numbers go on in rows of their own.
func TestClockSetBack(t *testing.T) {
	f := &fixture{t, dbtest.OpenSQLite(t), activity.New()}
	for n, ago := range []time.Duration{10 * time.Minute, 0, 10 * time.Minute} {
		f.c.SetClock(time.Now().Add(-ago))
		f.acked("a", 1<<n)
		f.write(false)
	}
	if got := f.sums(1); got["a"] != 7 {
		t.Error(got)
	}
}

// D-571: what cannot be written is dropped after an hour, and does not pile up.
func TestPendingIsBounded(t *testing.T) {
	c := activity.New()
	at := time.Now()
	for range 200 {
		c.SetClock(at)
		c.Observer().Attempted([]worker.Attempt{{Topic: "t", Outcome: worker.OutcomeRetried, Error: errors.New("x").Error()}})
		at = at.Add(time.Minute)
		if calls, _ := c.Pending(); len(calls) > 62 {
			t.Fatalf("%d writes are pending", len(calls))
		}
	}
}

// D-574: the first failure of a topic in a minute asks for an early heartbeat, a second one and what
// succeeds do not.
func TestTroubleIsWrittenSoon(t *testing.T) {
	c := activity.New()
	early := func(topic string, o worker.Outcome) bool {
		c.Observer().Attempted([]worker.Attempt{{Topic: topic, Outcome: o}})
		select {
		case <-c.Trouble():
			return true
		default:
			return false
		}
	}
	for i, one := range []struct {
		topic string
		o     worker.Outcome
		want  bool
	}{{"a", worker.OutcomeAcked, false}, {"a", worker.OutcomeRetried, true}, {"a", worker.OutcomeFailed, false}, {"b", worker.OutcomeUnhandled, true}, {"b", worker.OutcomeUnhandled, false}} {
		if got := early(one.topic, one.o); got != one.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
