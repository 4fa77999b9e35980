package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-525: a poll sees what workers do in a database: a message that one holds, and how long ago the
// newest was done, whoever enqueued it.
func TestPollSeesWorkers(t *testing.T) { dbtest.Each(t, testPollSeesWorkers) }

func testPollSeesWorkers(t *testing.T, e dbtest.Engine) {
	db := e.Open(t).DB
	o := parts.NewOutbox(db, worker.Options{}).Outbox
	idle := func() *int64 {
		t.Helper()
		polled, _, err := engine.Get(t.Context(), db, op.FleetPoll{Queues: []string{outbox.DefaultQueue}})
		must(t, err)
		return polled.Idle
	}
	enqueueIn(t, o, "a", 1)
	if v := idle(); v != nil {
		t.Errorf("before any work: %d µs", *v)
	}
	owner := outbox.NewOwnerToken()
	claim := func() outbox.Position {
		got, err := o.WorkQueue("").Claim(t.Context(), owner, time.Hour, 1)
		must(t, err)
		return got[0].Position
	}
	at := claim()
	if v := idle(); v == nil || *v > 0 {
		t.Errorf("while a message is claimed: %v", v)
	}
	_, err := o.Release(t.Context(), owner, at)
	must(t, err)
	if v := idle(); v != nil {
		t.Errorf("when it was given back: %d µs", *v)
	}
	at = claim()
	began := time.Now()
	_, err = o.WorkQueue("").Ack(t.Context(), owner, at)
	must(t, err)
	if v := idle(); v == nil || time.Duration(*v)*time.Microsecond > time.Since(began)+time.Minute {
		t.Errorf("when it is done: %v", v)
	}
}

// seldom are options whose stores are polled once, unless something makes that earlier.
func seldom() fleet.Options {
	o := quick()
	o.PollMin, o.PollMax, o.PollFiles = time.Hour, time.Hour, time.Hour
	return o
}

// busy makes stores that another process works on, a file and a server for each: it holds a message
// of some, and just did one of the others. The last one is idle.
func busy(t *testing.T) (dbs []fleet.Database, other *fleet.Fleet) {
	t.Helper()
	pg, _ := servers(t, 2)
	dbs = slices.Concat(files(t, "held", "done"), pg, files(t, "idle"))
	other = open(t, fleet.Static(dbs...), quick())
	for i, d := range dbs[:4] {
		enqueue(t, other, d.Key, 1)
		owner := outbox.NewOwnerToken()
		got, err := box(t, other, d.Key).WorkQueue("").Claim(t.Context(), owner, 2*time.Hour, 1)
		must(t, err)
		if i%2 > 0 {
			_, err = box(t, other, d.Key).WorkQueue("").Ack(t.Context(), owner, got[0].Position)
			must(t, err)
		}
	}
	return dbs, other
}

// D-525: a store that another process works on is worked on by one that joins, too, as long as
// stores are kept ready: what comes next does not wait for a poll, whether the other lives or not.
func TestStoresThatOthersWorkOnAreWarm(t *testing.T) {
	t.Parallel()
	dbs, other := busy(t)
	r := newRecord()
	f := open(t, fleet.Static(dbs...), seldom())
	f.Handle("t", r.Handle)
	start(t, f)
	for _, d := range dbs[:4] {
		untilState(t, f, fleetstate.Active, d.Key)
		enqueue(t, other, d.Key, 1)
		r.until(t, d.Key, 1)
	}
	if s := polledIdle(t, f, "idle"); time.Until(s.NextPoll) < 30*time.Minute {
		t.Errorf("a store that nobody works on: %+v", s)
	}
}

// D-525: where there are too many stores for that, those that others work on are polled soon, and
// others are not.
func TestStoresThatOthersWorkOnArePolledSoon(t *testing.T) {
	t.Parallel()
	dbs, _ := busy(t)
	o := seldom()
	o.KeepReady = 1
	f := open(t, fleet.Static(dbs...), o)
	start(t, f)
	for _, d := range dbs[2:4] { // a file that did not change is not polled
		if s := polledIdle(t, f, d.Key); time.Until(s.NextPoll) > 20*time.Minute {
			t.Errorf("%s: %+v", d.Key, s)
		}
	}
	if s := polledIdle(t, f, "idle"); time.Until(s.NextPoll) < 30*time.Minute {
		t.Errorf("a store that nobody works on: %+v", s)
	}
}

// polledIdle waits until a store was polled, and nothing was due.
func polledIdle(t *testing.T, f *fleet.Fleet, key string) (s fleetstate.Store) {
	t.Helper()
	dbtest.Until(t, key+" was polled", func() bool {
		s = state(f, key)
		return !s.LastSuccess.IsZero() && s.State == fleetstate.Idle && !s.NextPoll.IsZero()
	})
	return s
}
