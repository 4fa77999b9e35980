package outbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// interrupted is a database that cancels a context once an operation has run so
// often.
type interrupted struct {
	engine.DB
	op     string
	left   int
	cancel context.CancelFunc
}

func (d *interrupted) Do(ctx context.Context, calls ...*engine.Call) error {
	err := d.DB.Do(ctx, calls...)
	if err == nil && calls[0].Name() == d.op {
		if d.left--; d.left == 0 {
			d.cancel()
		}
	}
	return err
}

// works does the steps of stored acts that are due now, as a scheduler of o does, and returns how many.
func works(t *testing.T, o *parts.Outbox) (done int64) {
	t.Helper()
	for n := int64(1); n > 0; done += n {
		var err error
		if n, err = steps(o).Dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return done
}

func steps(o *parts.Outbox) worker.Source { return o.Component().Sources[0] }

// started starts an act, which is stored.
func (f *fixture) started(act func(context.Context, outbox.FailedFilter) (acts.Bulk, error), filter outbox.FailedFilter) acts.Bulk {
	f.t.Helper()
	b, err := act(f.ctx(), filter)
	if err != nil || b.Status != acts.Stored || b.Changed != 0 || b.StartedAt.IsZero() {
		f.t.Fatalf("%+v, %v", b, err)
	}
	return b
}

// bulk insists on how far an act is.
func (f *fixture) bulk(id uuid.UUID, want acts.Status, changed int64) acts.Bulk {
	f.t.Helper()
	b, err := f.Bulk(f.ctx(), id)
	if err != nil || b.Status != want || b.Changed != changed {
		f.t.Fatalf("%+v is not %s with %d changed: %v", b, want, changed, err)
	}
	return b
}

// dueNow makes the next step of every act due.
func (f *fixture) dueNow() {
	f.t.Helper()
	f.exec("UPDATE " + f.db.Table("outbox_bulk") + " SET at = " + f.db.Ago(time.Second))
}

// trail returns what the audit trail has, oldest first: actor, action, target and number.
func (f *fixture) trail() (all []audit.Entry) {
	f.t.Helper()
	all, err := engine.Collect(audit.List(f.ctx(), f.db, audit.Options{}), 100)
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// D-411: an act with a rate is stored with its filter and who asked for it, and worked off by
// whoever works on the database, as fast as it says, over restarts; what fails meanwhile it leaves
// alone.
// D-580: the end is noted as of who started it, not as of the process that worked it off.
func TestBulkWithRate(t *testing.T) { dbtest.Each(t, testBulkWithRate) }

func testBulkWithRate(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.fail(10)
	ctx := admin.WithReason(admin.WithActor(f.ctx(), "alice"), "T-1")
	b, err := f.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "t", Rate: 4})
	if err != nil || b.Status != acts.Stored || b.Total != 10 || b.Actor != "alice" || b.Reason != "T-1" || b.Action != "redrive" || b.Filter.Topic != "t" || b.Filter.Rate != 4 || b.Target != "failed messages of topic t" {
		t.Fatalf("%+v, %v", b, err)
	}
	f.counts(outbox.Counts{Failed: 10})
	polled, _, err := engine.Get(f.ctx(), f.db, op.FleetPoll{Queues: []string{outbox.DefaultQueue}}) // a fleet comes for it
	if err != nil || polled.Micros == nil || *polled.Micros > 0 {
		t.Fatalf("%+v, %v", polled, err)
	}
	f.touched(1)(steps(f.Outbox).Dispatch(f.ctx()))
	now := f.bulk(b.ID, acts.Running, 4)
	if gap := now.NextAt.Sub(now.SteppedAt); gap != time.Second {
		t.Fatalf("the next step is due %v after four messages of four a second", gap)
	}
	f.exec("UPDATE " + f.db.Table("outbox_bulk") + " SET at = " + f.db.Earlier("at", -time.Hour)) // the second may be over
	if due, ok, err := steps(f.Outbox).NextDue(f.ctx()); err != nil || !ok || due <= 50*time.Minute || due > time.Hour+time.Second {
		t.Fatal(due, ok, err)
	}
	if n := works(t, f.Outbox); n != 0 {
		t.Fatalf("%d steps that are not due", n)
	}
	for i, id := range ids {
		f.status(id, []outbox.Status{outbox.Ready, outbox.Failed}[min(i/4, 1)])
	}
	owner, msgs := f.claimExactly(4) // one fails again, and so does a new one
	f.touched(4)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("again"), positions(msgs)...))
	last := f.fail(1)[0]
	for range 2 { // a process that begins now goes on
		f.dueNow()
		works(t, parts.NewOutbox(f.db.Another(t), worker.Options{}))
	}
	over := f.bulk(b.ID, acts.Done, 10)
	if over.EndedAt.IsZero() || !over.NextAt.IsZero() {
		t.Fatalf("%+v", over)
	}
	f.counts(outbox.Counts{Ready: 6, Failed: 5})
	f.status(last, outbox.Failed)
	f.dueNow()
	if n := works(t, f.Outbox); n != 0 {
		t.Fatalf("%d steps of an act that is done", n)
	}
	title := "redrive " + b.ID.String() + ": failed messages of topic t, 4 a second"
	all := f.trail()
	if len(all) != 3 || all[0].Action != "start" || all[0].Actor != "alice" || all[0].Target != title || all[0].Reason != "T-1" ||
		all[1].Action != "redrive" || all[1].Actor != "alice" || all[1].Count != 10 || all[1].ID != b.ID || all[2].Action != "end" || all[2].Target != title || all[2].Actor != "alice" || all[2].Reason != "T-1" {
		t.Fatalf("%+v", all)
	}
	list, err := f.Bulks(f.ctx())
	if err != nil || len(list) != 1 || list[0].ID != b.ID {
		t.Fatalf("%+v, %v", list, err)
	}
}

// D-411: what the filter selects is fixed when the act is stored, and all of it holds in every step.
func TestBulkFilters(t *testing.T) { dbtest.Each(t, testBulkFilters) }

func testBulkFilters(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.fail(20)
	now := time.Now()
	for _, c := range []struct {
		name   string
		filter outbox.FailedFilter
		want   int64
	}{
		{"ids", outbox.FailedFilter{IDs: []outbox.Position{ids[0], ids[7], ids[19]}, Rate: 2}, 3},
		{"no ids", outbox.FailedFilter{IDs: []outbox.Position{}, Rate: 2}, 0},
		{"limit", outbox.FailedFilter{Limit: 5, Rate: 3}, 5},
		{"topic", outbox.FailedFilter{Topic: "other", Rate: 3}, 0},
		{"queue", outbox.FailedFilter{Queue: "other", Rate: 3}, 0},
		{"error", outbox.FailedFilter{Error: "%", Rate: 3}, 0},
		{"since", outbox.FailedFilter{Since: now.Add(time.Hour), Rate: 3}, 0},
		{"before", outbox.FailedFilter{Before: now.Add(-time.Hour), Rate: 3}, 0},
		{"in future", outbox.FailedFilter{Before: now.Add(time.Hour), Queue: "default", Error: "no", Since: now.Add(-time.Hour), Topic: "t", Limit: 2, Rate: 10}, 2},
	} {
		b := f.started(f.Outbox.Discard, c.filter)
		if b.Total != c.want || b.Filter.Before.After(b.StartedAt.Add(time.Microsecond)) {
			t.Errorf("%s: %+v", c.name, b)
		}
		for range 10 {
			f.dueNow()
			works(t, f.Outbox)
		}
		f.bulk(b.ID, acts.Done, c.want)
	}
	f.counts(outbox.Counts{Failed: 10, Discarded: 10})
	f.db.CheckPlaces(t)
}

// D-411: a step goes on where the last one ended, behind many that the filter does not select.
func TestBulkBehindMany(t *testing.T) { dbtest.Each(t, testBulkBehindMany) }

func testBulkBehindMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.fail(12)
	f.enqueueBatch(3)
	owner, msgs := f.claim(10)
	f.touched(3)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("other"), positions(msgs)...))
	f.LookAt(5)
	b := f.started(f.Outbox.Redrive, outbox.FailedFilter{Error: "other", Rate: 10})
	for range 4 {
		f.dueNow()
		works(t, f.Outbox)
	}
	f.bulk(b.ID, acts.Done, 3)
}

// D-411: a call whose request ends in the middle leaves the rest to the workers, and says how much
// it did.
func TestBulkCallEnds(t *testing.T) { dbtest.Each(t, testBulkCallEnds) }

func testBulkCallEnds(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.fail(60)
	ctx, cancel := context.WithCancel(f.ctx())
	defer cancel()
	cut := parts.NewOutbox(&interrupted{DB: f.db.DB, op: "outbox/bulk_step", left: 2, cancel: cancel}, worker.Options{})
	cut.LookAt(10)
	b, err := cut.Redrive(ctx, outbox.FailedFilter{})
	if !errors.Is(err, context.Canceled) || b.Changed != 20 || b.Total != 60 || b.Status != acts.Running {
		t.Fatalf("%+v, %v", b, err)
	}
	f.counts(outbox.Counts{Ready: 20, Failed: 40})
	f.once(b.ID, ids)
}

// once has two processes work off an act at the same time, and checks that it redrove each message
// once.
func (f *fixture) once(id uuid.UUID, ids []outbox.Position) {
	f.t.Helper()
	var busy sync.WaitGroup
	for range 2 {
		o := parts.NewOutbox(f.db.Another(f.t), worker.Options{})
		o.LookAt(3)
		busy.Go(func() {
			for b := (acts.Bulk{}); !b.Over(); {
				if _, err := steps(o).Dispatch(f.ctx()); err != nil {
					f.t.Error(err)
					return
				}
				var err error
				if b, err = o.Bulk(f.ctx(), id); err != nil {
					f.t.Error(err)
					return
				}
			}
		})
	}
	busy.Wait()
	f.bulk(id, acts.Done, int64(len(ids)))
	for _, id := range ids {
		if i := f.status(id, outbox.Ready); i.Redrives != 1 {
			f.t.Fatalf("message %d was redriven %d times", id, i.Redrives)
		}
	}
	f.db.CheckPlaces(f.t)
}

// lossy is a database in which an operation fails, or whose answer gets lost.
type lossy struct {
	engine.DB
	op     string
	before bool
}

func (d lossy) Do(ctx context.Context, calls ...*engine.Call) error {
	if calls[0].Name() != d.op {
		return d.DB.Do(ctx, calls...)
	}
	if !d.before {
		if err := d.DB.Do(ctx, calls...); err != nil {
			return err
		}
	}
	return engine.ErrConnLost
}

// D-411: a process that dies before a step, or does not learn that it was committed, costs no
// message and changes none twice.
func TestBulkProcessDies(t *testing.T) { dbtest.Each(t, testBulkProcessDies) }

func testBulkProcessDies(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.fail(30)
	b := f.started(f.Outbox.Redrive, outbox.FailedFilter{Rate: 7})
	for _, before := range []bool{true, false} {
		f.dueNow()
		if _, err := steps(parts.NewOutbox(lossy{f.db.DB, "outbox/bulk_step", before}, worker.Options{})).Dispatch(f.ctx()); !errors.Is(err, engine.ErrConnLost) {
			t.Fatal(err)
		}
	}
	f.bulk(b.ID, acts.Running, 7)
	for range 4 {
		f.dueNow()
		works(t, f.Outbox)
	}
	f.once(b.ID, ids)
}

// D-411: an act is stopped in the middle by whoever asks for it, and only once.
func TestBulkStop(t *testing.T) { dbtest.Each(t, testBulkStop) }

func testBulkStop(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.fail(10)
	b := f.started(f.Outbox.Redrive, outbox.FailedFilter{Rate: 4})
	f.touched(1)(steps(f.Outbox).Dispatch(f.ctx())) // the next is due in a second
	got, err := f.StopBulk(admin.WithReason(admin.WithActor(f.ctx(), "bob"), "too fast"), b.ID)
	if err != nil || got.Status != acts.Stopped || got.StoppedBy != "bob" || got.Changed != 4 || !got.NextAt.IsZero() {
		t.Fatalf("%+v, %v", got, err)
	}
	f.dueNow()
	if n := works(t, f.Outbox); n != 0 {
		t.Fatalf("%d steps of an act that was stopped", n)
	}
	if again, err := f.StopBulk(admin.WithActor(f.ctx(), "eve"), b.ID); err != nil || again.StoppedBy != "bob" {
		t.Fatalf("%+v, %v", again, err)
	}
	f.counts(outbox.Counts{Ready: 4, Failed: 6})
	all := f.trail()
	if len(all) != 3 || all[2].Action != "stop" || all[2].Actor != "bob" || all[2].Reason != "too fast" || !strings.Contains(all[2].Target, b.ID.String()) {
		t.Fatalf("%+v", all)
	}
	if _, err := f.StopBulk(f.ctx(), uuid.New()); !errors.Is(err, outbox.ErrNoBulk) {
		t.Fatal(err)
	}
}

// D-411: an act that can never go on does not hold up the others.
func TestBulkThatFails(t *testing.T) { dbtest.Each(t, testBulkThatFails) }

func testBulkThatFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.fail(3)
	bad := f.started(f.Outbox.Redrive, outbox.FailedFilter{IDs: []outbox.Position{1}, Rate: 4})
	f.exec("UPDATE " + f.db.Table("outbox_bulk") + " SET ids = 'nonsense'")
	b := f.started(f.Outbox.Discard, outbox.FailedFilter{Rate: 4})
	if _, err := steps(f.Outbox).Dispatch(f.ctx()); err == nil {
		t.Fatal("a step of nonsense")
	}
	f.bulk(bad.ID, acts.Stored, 0)
	f.bulk(b.ID, acts.Done, 3)
}

// D-411: whoever runs the outbox works off what is stored, and is woken for it; acts that ended are
// deleted after the retention period.
func TestBulkRuns(t *testing.T) { dbtest.Each(t, testBulkRuns) }

func testBulkRuns(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	ids := f.fail(10)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	ctx, stop := context.WithCancel(f.ctx())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	other := parts.NewOutbox(f.db.Another(t), worker.Options{})
	b, err := other.Redrive(f.ctx(), outbox.FailedFilter{Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Until(t, "all are handled", func() bool {
		c, err := f.Count(f.ctx())
		return err == nil && c.Done == int64(len(ids))
	})
	stop()
	running.Wait()
	f.bulk(b.ID, acts.Done, 10)
	f.exec("UPDATE " + f.db.Table("outbox_bulk") + " SET ended_at = " + f.db.Ago(8*24*time.Hour))
	if _, err := f.CleanUp(f.ctx()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Bulk(f.ctx(), b.ID); !errors.Is(err, outbox.ErrNoBulk) {
		t.Fatal(err)
	}
}
