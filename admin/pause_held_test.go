package admin_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func (f *fixture) exec(tx *sql.Tx, query string) {
	f.t.Helper()
	if _, err := tx.ExecContext(f.ctx(), query); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
}

// parkIn has a transaction park six messages of topic p that were claimed together.
func (f *fixture) parkIn(tx *sql.Tx, owner outbox.OwnerToken, lo outbox.Position) {
	f.t.Helper()
	args := []string{fmt.Sprintf("ARRAY['%s'::uuid]", owner), f.db.IDs(int64(lo)), "ARRAY[6]", "ARRAY['p']"}
	if f.db.Engine() == "sqlserver" {
		args = []string{fmt.Sprintf(`N'[{"owner":"%s","lo":%d,"n":6,"topic":"p"}]'`, owner, lo)}
	}
	f.exec(tx, f.db.Call("outbox_park_runs", args...))
}

// resuming resumes topic p beside an open transaction until it waits for that, or
// is through, and returns a function that waits for its end.
func (f *fixture) resuming(tx *sql.Tx) (wait func()) {
	f.t.Helper()
	waits := f.db.Blocks(f.t, tx)
	ended := make(chan error, 1)
	go func() {
		_, err := f.Admin.Resume(f.ctx(), admin.Topic, "p")
		ended <- err
	}()
	dbtest.Until(f.t, "the resume waits or is through", func() bool { return len(ended) > 0 || waits() })
	return func() { f.t.Helper(); f.check(<-ended) }
}

// all insists on every message coming back, to be handled once, and on each being in its place then.
func (f *fixture) all(n int) {
	f.t.Helper()
	f.back(n)
	f.db.CheckPlaces(f.t)
}

// back insists on n messages coming back, to be handled once.
func (f *fixture) back(n int) {
	f.t.Helper()
	f.wantParked(0)
	if all := f.paused(); len(all) != 0 {
		f.t.Fatalf("still paused: %+v", all)
	}
	count := newTally()
	f.drain(count.Handle)
	count.once(f.t, n)
}

// A worker that parks while the pause ends does so before, or not at all.
func TestResumeWaitsForPark(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.parkIn(tx, owner, ids[0])
		wait := f.resuming(tx)
		f.check(tx.Commit())
		wait()
		f.all(6)
	})
}

func TestResumeAfterParkRolledBack(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.parkIn(tx, owner, ids[0])
		wait := f.resuming(tx)
		f.check(tx.Rollback())
		wait()
		if n := f.park(owner, ids[0], 6, "p"); n != 6 {
			t.Fatalf("%d messages went back", n)
		}
		f.all(6)
	})
}

// A park that meets the end of a pause that is not committed yet waits for it, and
// parks nothing.
func TestParkWaitsForPause(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, "UPDATE "+f.db.Table("outbox_pause")+" SET ending = "+f.db.Bool(true))
		waits := f.db.Blocks(t, tx)
		parked := make(chan int64, 1)
		go func() { parked <- f.park(owner, ids[0], 6, "p") }()
		dbtest.Until(t, "the park waits or is through", func() bool { return len(parked) > 0 || waits() })
		f.check(tx.Commit())
		if n := <-parked; n != 6 {
			t.Fatalf("%d messages went back", n)
		}
		f.wantParked(0)
		f.resume(admin.Topic, "p")
		f.all(6)
	})
}

// parkRun parks n messages of topic p, as one run, and returns them.
func (f *fixture) parkRun(n int) []outbox.Position {
	f.t.Helper()
	ids := f.mixed(n, "p")["p"]
	f.pause(admin.Topic, "p")
	f.drain(done)
	f.wantParked(n)
	return ids
}

// Who takes a message out of a run leaves the rest of it where it lay. A pause that
// ends meanwhile brings that back as well.
func TestResumeSeesRestOfCancelled(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, f.db.Call("outbox_cancel", f.db.IDs(int64(ids[4])), "'why'"))
		wait := f.resuming(tx)
		f.check(tx.Commit())
		wait()
		f.status(outbox.Discarded, ids[4])
		f.all(8)
	})
}

func TestResumeSeesRescheduled(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, f.db.Call("outbox_reschedule", f.db.IDs(int64(ids[0]), int64(ids[8])), time.Now().UTC().Format("'2006-01-02T15:04:05Z'")))
		wait := f.resuming(tx)
		f.check(tx.Commit())
		wait()
		f.all(9)
	})
}

// The same without anybody's plan.
func TestResumeAmongWithdrawals(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for range 5 {
			ids := f.parkRun(30)
			ended := make(chan error, 2)
			go func() {
				_, err := f.Outbox.Reschedule(f.ctx(), time.Now().Add(-time.Hour), ids...)
				ended <- err
			}()
			go func() {
				for _, id := range ids {
					if _, err := f.Outbox.Reschedule(f.ctx(), time.Time{}, id); err != nil {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
			f.resume(admin.Topic, "p")
			f.check(<-ended)
			f.check(<-ended)
			f.all(30)
		}
	})
}

// Two who resume at once bring back everything between them.
func TestTwoResume(t *testing.T) {
	eachServer(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mixed(many, "p", "q")
		f.pause(admin.Topic, "p")
		f.drain(done)
		other := f.another(pawl.Options{})
		ended := make(chan error, 1)
		go func() {
			_, err := other.Admin.Resume(context.WithoutCancel(f.ctx()), admin.Topic, "p")
			ended <- err
		}()
		_, err := f.Admin.Resume(f.ctx(), admin.Topic, "p")
		f.check(err)
		f.check(<-ended)
		f.all(many)
	})
}
