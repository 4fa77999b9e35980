package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// cold are options whose stores get cold at once: more than are kept warm.
func cold() fleet.Options {
	o := quick()
	o.KeepReady, o.Cool = 1, time.Millisecond
	return o
}

// chill waits until stores have been given up: they keep no connection.
func chill(t *testing.T, dbs ...fleet.Database) {
	t.Helper()
	for _, d := range dbs {
		dbtest.Until(t, d.Key+" is cold", func() bool { return openFiles(t, d) == 0 })
	}
}

// D-93: what another process enqueues is found in a store that is cold.
func TestColdStoreIsLookedAt(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b", "c")
	r := newRecord()
	f := open(t, fleet.Static(dbs...), cold())
	f.Handle("t", r.Handle)
	start(t, f)
	for round := range 3 {
		chill(t, dbs...)
		for _, d := range dbs {
			other := dbtest.SQLiteAt(t, pathOf(d), sqlite.Options{})
			enqueueIn(t, parts.NewOutbox(other, worker.Options{}).Outbox, fmt.Sprint(d.Key, round), 2)
			must(t, other.Close())
		}
		for _, d := range dbs {
			r.until(t, d.Key, 2*(round+1))
		}
	}
	r.once(t)
}

// D-93: a message of another process that is due later is found when it is due, though nothing is written then.
func TestColdStoreWithSomethingDueLater(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b")
	r := newRecord()
	f := open(t, fleet.Static(dbs...), cold())
	f.Handle("t", r.Handle)
	start(t, f)
	chill(t, dbs...)
	other := dbtest.SQLiteAt(t, pathOf(dbs[1]), sqlite.Options{})
	_, err := parts.NewOutbox(other, worker.Options{}).Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Due: time.Now().Add(400 * time.Millisecond)})
	must(t, err)
	must(t, other.Close())
	r.until(t, "b", 1)
}

// OBX-072, D-93: what this program enqueues is worked on at once, however rarely stores are looked at.
func TestEnqueueWakes(t *testing.T) {
	t.Parallel()
	dbs := files(t, "a", "b", "c")
	r := newRecord()
	o := cold()
	o.PollMin, o.PollMax, o.PollFiles = time.Hour, time.Hour, time.Hour
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", r.Handle)
	start(t, f)
	for n := range 4 {
		for _, d := range dbs {
			dbtest.Until(t, d.Key+" sleeps", func() bool { return time.Until(state(f, d.Key).NextPoll) > time.Minute })
			s := store(t, f, d.Key)
			switch n {
			case 0:
				enqueueIn(t, s.Pawl.Outbox, "plain", 1)
			case 1:
				inOwnTransaction(t, f, s)
			case 2:
				_, err := s.Pawl.Timers.Schedule(t.Context(), timer.Timer{Topic: "t", Due: time.Now().Add(20 * time.Millisecond)})
				must(t, err)
			case 3:
				_, err := s.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Due: time.Now().Add(20 * time.Millisecond)})
				must(t, err)
			}
			r.until(t, d.Key, n+1)
		}
	}
}

// inOwnTransaction enqueues in a transaction of the program's own, and commits.
func inOwnTransaction(t *testing.T, f *fleet.Fleet, s *fleet.Store) {
	t.Helper()
	db, err := s.DB(access.Key{})
	must(t, err)
	tx, err := db.(*sqlite.DB).SQL().BeginTx(t.Context(), nil)
	must(t, err)
	_, err = s.Pawl.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"})
	must(t, err)
	if state(f, s.Key).State == fleetstate.Failing {
		t.Error("a transaction of ours makes the store fail")
	}
	must(t, tx.Commit())
}
