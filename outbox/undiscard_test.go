package outbox_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// undiscards insists on how many messages a filter selects, and takes the discards of them back.
func (f *fixture) undiscards(want int64, filter outbox.FailedFilter) {
	f.undiscardsOf(uuid.Nil, want, filter)
}

// undiscardsOf is undiscards of what one act discarded.
func (f *fixture) undiscardsOf(act uuid.UUID, want int64, filter outbox.FailedFilter) {
	f.t.Helper()
	f.touched(want)(f.CountUndiscard(f.ctx(), filter, act))
	b, err := f.Undiscard(f.ctx(), filter, act)
	f.touched(want)(b.Changed, err)
}

// D-650: what was discarded in the last hour once it had failed has failed again, at the time when it did,
// chosen by what it was discarded by: a filter, ids, or the act. What was cancelled is left alone.
func TestUndiscard(t *testing.T) { dbtest.Each(t, testUndiscard) }

func testUndiscard(t *testing.T, e dbtest.Engine) {
	f, ids := failing(t, e)
	for key, some := range ids {
		if key == "a/other/NO ROUTE" {
			f.age(3*time.Hour, some...)
		}
	}
	before := time.Now().Add(-time.Hour)
	a, err := f.Discard(f.ctx(), outbox.FailedFilter{Topic: "a"})
	if err != nil || a != 16 {
		t.Fatal(a, err)
	}
	waits := f.enqueue(outbox.Message{})
	f.touched(1)(f.Cancel(f.ctx(), "not needed", waits))
	b, err := f.Outbox.Discard(f.ctx(), outbox.FailedFilter{Queue: "other", Error: "route"})
	if err != nil || b.Changed != 2 {
		t.Fatal(b, err)
	}
	f.age(61*time.Minute, ids["a/other/"]...) // when they were discarded
	f.undiscards(0, outbox.FailedFilter{IDs: append(slices.Clone(ids["a/other/"]), waits, 0)})
	f.undiscardsOf(uuid.New(), 0, outbox.FailedFilter{})
	f.undiscardsOf(b.ID, 2, outbox.FailedFilter{})
	f.undiscardsOf(b.ID, 0, outbox.FailedFilter{})
	f.undiscards(2, outbox.FailedFilter{IDs: ids["a/default/"]})
	f.undiscards(2, outbox.FailedFilter{Before: before}) // these failed before
	f.touched(2)(f.CountFailed(f.ctx(), outbox.FailedFilter{Before: before}))
	f.undiscards(3, outbox.FailedFilter{Since: before, Queue: "other", Limit: 3})
	f.undiscards(7, outbox.FailedFilter{})
	f.touched(30)(f.CountFailed(f.ctx(), outbox.FailedFilter{}))
	f.counts(outbox.Counts{Ready: 3, Failed: 30, Discarded: 3})
	f.touched(30)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
	f.db.CheckPlaces(t)
}

// D-650: who took discards back is in the audit trail, with what; more than a transaction takes, of a stored
// act, is taken back, too.
func TestUndiscardOfAStoredAct(t *testing.T) { dbtest.Each(t, testUndiscardOfAStoredAct) }

func testUndiscardOfAStoredAct(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 2300
	ids := f.fail(n)
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: ids[:1]}))
	b, err := f.Outbox.Discard(f.ctx(), outbox.FailedFilter{})
	if err != nil || b.Status != acts.Done || b.StartedAt.IsZero() {
		t.Fatalf("%+v, %v", b, err)
	}
	f.undiscardsOf(b.ID, n-1, outbox.FailedFilter{})
	f.counts(outbox.Counts{Failed: n - 1, Discarded: 1})
	f.undiscards(1, outbox.FailedFilter{IDs: ids[:2]})
	trail := f.trail()
	last := trail[len(trail)-2:]
	if last[0].Action != "undiscard" || last[0].Target != "discarded messages by act "+b.ID.String() || last[0].Count != n-1 || last[1].Target != "2 discarded messages" || last[1].Count != 1 {
		t.Errorf("the audit trail ends with %+v", last)
	}
	f.db.CheckPlaces(t)
}

// D-650: no filter selects more than what was meant by it.
func TestUndiscardBadArguments(t *testing.T) { dbtest.Each(t, testUndiscardBadArguments) }

func testUndiscardBadArguments(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.refused("rate")(f.Undiscard(f.ctx(), outbox.FailedFilter{Rate: 1}, uuid.Nil))
}

// D-651: a message that held its ordering key does not hold it again: what came behind it has run, and goes on.
func TestUndiscardOfAHead(t *testing.T) { dbtest.Each(t, testUndiscardOfAHead) }

func testUndiscardOfAHead(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{}))
	var fails atomic.Bool
	fails.Store(true)
	f.Handle("t", func(context.Context, *outbox.Message) error {
		if fails.CompareAndSwap(true, false) {
			return outbox.Permanent(errors.New("no"))
		}
		return nil
	}, outbox.HandlerOptions{Order: outbox.OrderHold})
	at := f.inOrder("a1", "a2")
	f.start()
	f.untilStatus(at[0], outbox.Failed)
	f.status(at[1], outbox.Ready) // behind it
	f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{}))
	f.untilStatus(at[1], outbox.Done)
	f.undiscards(1, outbox.FailedFilter{})
	f.status(at[0], outbox.Failed)
	f.untilStatus(f.inOrder("a3")[0], outbox.Done)
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{}))
	f.untilStatus(at[0], outbox.Done)
	f.db.CheckPlaces(t)
}
