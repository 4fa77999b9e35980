package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// D-85: pending, running, succeeded, with start and end.
func TestHistorySuccess(t *testing.T) { dbtest.Each(t, testHistorySuccess) }

func testHistorySuccess(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	r := f.made()
	if r.Status != job.Pending || r.Triggered || !r.StartedAt.IsZero() || !r.EndedAt.IsZero() || r.CreatedAt.Before(r.ScheduledAt) || r.Attempts != 0 || r.Missed != 0 {
		t.Fatalf("at first %+v", r)
	}
	f.drain("make", func(_ context.Context, m *outbox.Message) error {
		during := f.run(m.ID)
		if during.Status != job.Running || during.StartedAt.Before(r.CreatedAt) || !during.EndedAt.IsZero() || m.ID != r.ID || m.Headers[job.HeaderJob] != name {
			t.Errorf("meanwhile %+v", during)
		}
		f.db.Pass(5 * time.Millisecond)
		return nil
	})
	after := f.run(r.ID)
	if after.Status != job.Succeeded || !after.EndedAt.After(after.StartedAt) || after.StartedAt.Before(r.CreatedAt) || after.Attempts != 0 || after.LastError != "" {
		t.Fatalf("in the end %+v", after)
	}
	if !after.ScheduledAt.Equal(r.ScheduledAt) || !after.CreatedAt.Equal(r.CreatedAt) || after.Position != r.Position {
		t.Fatalf("from %+v to %+v", r, after)
	}
}

// D-85: the start is the first attempt's.
func TestHistoryRetries(t *testing.T) { dbtest.Each(t, testHistoryRetries) }

func testHistoryRetries(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	var started time.Time
	attempt := 0
	f.drain("make", func(context.Context, *outbox.Message) error {
		f.db.Pass(2 * time.Millisecond)
		r := f.run(id)
		if attempt++; attempt == 1 {
			started = r.StartedAt
			return errors.New("no paper")
		}
		if r.Attempts != 1 || !r.StartedAt.Equal(started) || r.Status != job.Running || r.LastError != "no paper" {
			t.Errorf("at the second attempt %+v", r)
		}
		return nil
	})
	if r := f.run(id); r.Status != job.Succeeded || started.IsZero() || !r.StartedAt.Equal(started) || r.Attempts != 1 {
		t.Fatalf("in the end %+v", r)
	}
}

func fails(context.Context, *outbox.Message) error { return errors.New("no paper") }

// D-85: a failed run that is redriven is followed on.
func TestHistoryRedrive(t *testing.T) { dbtest.Each(t, testHistoryRedrive) }

func testHistoryRedrive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	f.drain("make", fails)
	r := f.run(id)
	if r.Status != job.Failed || r.Attempts == 0 || !strings.Contains(r.LastError, "no paper") || r.StartedAt.IsZero() || r.EndedAt.Before(r.StartedAt) {
		t.Fatalf("failed %+v", r)
	}
	f.db.Pass(5 * time.Millisecond)
	_, err := f.CleanUp(t.Context())
	f.check(err)
	b, err := f.box.Redrive(t.Context(), outbox.FailedFilter{})
	f.check(err)
	if r := f.run(id); b.Changed != 1 || r.Status != job.Pending || !r.EndedAt.IsZero() || r.Attempts != 0 {
		t.Fatalf("%d redriven: %+v", b.Changed, r)
	}
	f.drain("make", done)
	if r := f.run(id); r.Status != job.Succeeded || r.EndedAt.IsZero() || f.get(name).LastRunStatus != job.Succeeded {
		t.Fatalf("in the end %+v", r)
	}
}

// D-85: a failed run that is given up is cancelled, and stays so without its message.
func TestHistoryDiscarded(t *testing.T) { dbtest.Each(t, testHistoryDiscarded) }

func testHistoryDiscarded(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	f.drain("make", fails)
	b, err := f.box.Discard(t.Context(), outbox.FailedFilter{})
	f.check(err)
	before := f.run(id)
	if b.Changed != 1 || before.Status != job.Cancelled || before.EndedAt.IsZero() || before.Attempts == 0 || before.LastError == "" {
		t.Fatalf("%d discarded: %+v", b.Changed, before)
	}
	f.deleteMessage(id)
	if after := f.run(id); *after != *before {
		t.Fatalf("from %+v to %+v", before, after)
	}
}

// deleteMessage deletes a message of the outbox.
// D-652: a run whose message was discarded is followed again once that is taken back, although its outcome
// had been recorded.
func TestHistoryUndiscarded(t *testing.T) { dbtest.Each(t, testHistoryUndiscarded) }

func testHistoryUndiscarded(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	f.drain("make", fails)
	_, err := f.box.Discard(t.Context(), outbox.FailedFilter{})
	f.check(err)
	_, err = engine.Exec(t.Context(), f.db, nil, op.OutboxPurge{Age: 24 * time.Hour, Look: 100})
	f.check(err)
	var recorded int
	f.db.Row(t, "SELECT count(*) FROM "+f.db.Table("job_run")+" WHERE outcome = 4", &recorded)
	b, err := f.box.Undiscard(t.Context(), outbox.FailedFilter{}, uuid.Nil)
	f.check(err)
	if r := f.run(id); recorded != 1 || b.Changed != 1 || r.Status != job.Failed || r.LastError == "" {
		t.Fatalf("%d recorded, %d taken back: %+v", recorded, b.Changed, r)
	}
	_, err = f.box.Redrive(t.Context(), outbox.FailedFilter{})
	f.check(err)
	f.drain("make", done)
	if r := f.run(id); r.Status != job.Succeeded || r.EndedAt.IsZero() {
		t.Fatalf("in the end %+v", r)
	}
}

func (f *fixture) deleteMessage(id outbox.MessageID) {
	f.t.Helper()
	f.db.Pass(20 * time.Millisecond)
	_, err := f.box.CleanUp(f.ctx())
	f.check(err)
	if _, err := f.box.Get(f.ctx(), id); !errors.Is(err, outbox.ErrNotFound) {
		f.t.Fatalf("the message is still there: %v", err)
	}
}

// D-85: also a run that a worker had claimed and never begun when it died has a
// start, once another one begins.
func TestHistoryCrash(t *testing.T) { dbtest.Each(t, testHistoryCrash) }

func testHistoryCrash(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	_, err := f.box.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), 50*time.Millisecond, 10)
	f.check(err)
	f.db.Pass(100 * time.Millisecond)
	if n, err := f.WorkQueue().ReapExpired(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	f.drain("make", done)
	if r := f.run(id); r.Status != job.Succeeded || r.Attempts != 0 || r.StartedAt.IsZero() {
		t.Fatalf("in the end %+v", r)
	}
}

// D-85
func TestHistoryNoHandler(t *testing.T) { dbtest.Each(t, testHistoryNoHandler) }

func testHistoryNoHandler(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	id := f.trigger(name)
	f.drain("other", done)
	if r := f.run(id); r.Status == job.Succeeded || r.Status == job.Unknown {
		t.Fatalf("a run that nobody handled is %+v", r)
	}
}

// D-85: the outcome is kept when the outbox deletes the message.
func TestHistoryOutlives(t *testing.T) { dbtest.Each(t, testHistoryOutlives) }

func testHistoryOutlives(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	ids := []job.RunID{f.trigger(name), f.trigger(name), f.made().ID}
	f.drain("make", done)
	var before []job.Run
	for _, id := range ids {
		before = append(before, *f.run(id))
	}
	for i, id := range ids {
		f.deleteMessage(id)
		if after := f.run(id); *after != before[i] || after.Status != job.Succeeded {
			t.Errorf("from %+v to %+v", before[i], after)
		}
	}
	if got := f.get(name); got.LastRunID != ids[2] || got.LastRunStatus != job.Succeeded || !got.LastRunAt.Equal(before[2].StartedAt) {
		t.Fatalf("the job is %+v", got)
	}
}

// D-85: history goes after its retention, but for the last run and what is not over.
func TestHistoryRetention(t *testing.T) { dbtest.Each(t, testHistoryRetention) }

func testHistoryRetention(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	f := on(t, e, db, db.DB, job.Options{Retention: 10 * time.Minute})
	f.put(f.hourly())
	for range 3 {
		f.trigger(name)
	}
	f.drain("make", done)
	f.trigger(name)
	f.drain("make", fails)
	f.trigger(name)
	f.drain("make", done)
	last := f.get(name).LastRunID
	if n, err := f.CleanUp(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d went early, %v", n, err)
	}
	f.exec("UPDATE " + db.Table("job_run") + " SET end_time = " + db.Earlier("end_time", time.Hour))
	if n, err := f.CleanUp(t.Context()); n != 3 || err != nil {
		t.Fatalf("%d went, %v", n, err)
	}
	f.statuses(name, job.Failed, job.Succeeded)
	if got := f.get(name); got.LastRunID != last || got.LastRunStatus != job.Succeeded {
		t.Fatalf("the job is %+v", got)
	}
	f.check(f.Delete(t.Context(), name))
	if n, err := f.CleanUp(t.Context()); n != 1 || err != nil {
		t.Fatalf("of a deleted job %d went, %v", n, err)
	}
}

// D-85: Get and List tell of the last run.
func TestHistoryLast(t *testing.T) { dbtest.Each(t, testHistoryLast) }

func testHistoryLast(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.put(f.hourly())
	last := func(id job.RunID, status job.Status, at time.Time) {
		t.Helper()
		all, err := engine.Collect(f.List(t.Context(), job.ListOptions{}), 100)
		f.check(err)
		for _, got := range append(all, *f.get(name)) {
			if got.LastRunID != id || got.LastRunStatus != status || !got.LastRunAt.Equal(at) {
				t.Fatalf("last run %v %v at %v, want %v %v at %v", got.LastRunID, got.LastRunStatus, got.LastRunAt, id, status, at)
			}
		}
	}
	last(job.RunID{}, "", time.Time{})
	r := f.made()
	last(r.ID, job.Pending, r.CreatedAt)
	f.drain("make", func(context.Context, *outbox.Message) error {
		f.db.Pass(2 * time.Millisecond)
		last(r.ID, job.Running, f.run(r.ID).StartedAt)
		return errors.New("no paper")
	})
	last(r.ID, job.Failed, f.run(r.ID).StartedAt)
	id := f.trigger(name)
	f.drain("make", done)
	last(id, job.Succeeded, f.run(id).StartedAt)
}
