package admin_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/outbox"
)

func (f *fixture) exec(tx *sql.Tx, query string, args ...any) {
	f.t.Helper()
	if _, err := tx.ExecContext(f.ctx(), query, args...); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
}

// waiting reports whether somebody waits for a lock in this database's schema.
func (f *fixture) waiting() bool {
	f.t.Helper()
	schema := strings.TrimSuffix(f.db.Table(""), ".")
	return f.db.Count(f.t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"+schema+"%'") > 0
}

// resuming resumes topic p beside an open transaction until it waits for that, or
// is through, and returns a function that waits for its end.
func (f *fixture) resuming() (wait func()) {
	f.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := f.Admin.Resume(f.ctx(), admin.Topic, "p")
		ended <- err
	}()
	dbtest.Until(f.t, "the resume waits or is through", func() bool { return len(ended) > 0 || f.waiting() })
	return func() { f.t.Helper(); f.check(<-ended) }
}

// all insists on every message coming back, to be handled once.
func (f *fixture) all(n int) {
	f.t.Helper()
	f.wantParked(0)
	if all := f.paused(); len(all) != 0 {
		f.t.Fatalf("still paused: %+v", all)
	}
	count := newTally()
	f.drain(count.Handle)
	count.once(f.t, n)
	f.db.CheckPlaces(f.t)
}

// A worker that parks while the pause ends does so before, or not at all.
func TestResumeWaitsForPark(t *testing.T) {
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		park := "SELECT " + f.db.Table("outbox_park_runs") + "(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[6], ARRAY['p'])"
		f.exec(tx, park, owner.String(), int64(ids[0]))
		wait := f.resuming()
		f.check(tx.Commit())
		wait()
		f.all(6)
	})
}

func TestResumeAfterParkRolledBack(t *testing.T) {
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		park := "SELECT " + f.db.Table("outbox_park_runs") + "(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[6], ARRAY['p'])"
		f.exec(tx, park, owner.String(), int64(ids[0]))
		wait := f.resuming()
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
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.mixed(6, "p")["p"]
		f.pause(admin.Topic, "p")
		owner, _ := f.claim(time.Minute, 6)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, "UPDATE "+f.db.Table("outbox_pause")+" SET ending = true")
		parked := make(chan int64, 1)
		go func() { parked <- f.park(owner, ids[0], 6, "p") }()
		dbtest.Until(t, "the park waits or is through", func() bool { return len(parked) > 0 || f.waiting() })
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
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, "SELECT "+f.db.Table("outbox_cancel")+"(ARRAY[$1]::bigint[], 'why')", int64(ids[4]))
		wait := f.resuming()
		f.check(tx.Commit())
		wait()
		f.status(outbox.Discarded, ids[4])
		f.all(8)
	})
}

func TestResumeSeesRescheduled(t *testing.T) {
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ids := f.parkRun(9)
		tx := f.db.Begin(t)
		defer tx.Rollback()
		f.exec(tx, "SELECT "+f.db.Table("outbox_reschedule")+"(ARRAY[$1, $2]::bigint[], clock_timestamp())", int64(ids[0]), int64(ids[8]))
		wait := f.resuming()
		f.check(tx.Commit())
		wait()
		f.all(9)
	})
}

// The same without anybody's plan.
func TestResumeAmongWithdrawals(t *testing.T) {
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
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
	eachPostgres(t, func(t *testing.T, e dbtest.Engine) {
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
