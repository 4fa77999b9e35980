package timer_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

func inYear(y int) time.Time { return time.Date(y, 6, 1, 0, 0, 0, 0, time.UTC) }

// D-2, D-71: every field is looked at before anything is stored; a due time that
// was forgotten is an error and not a timer that fires at once.
func TestRefusedFields(t *testing.T) { dbtest.Each(t, testRefusedFields) }

func testRefusedFields(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	long := strings.Repeat("ü", 256)
	refused := map[string][]func(*timer.Timer){
		"due time": {
			func(tm *timer.Timer) { tm.Due = time.Time{} },
			func(tm *timer.Timer) { tm.Due = time.Time{}.In(time.FixedZone("", 3600)) },
			func(tm *timer.Timer) { tm.Due = inYear(10_000) },
		},
		"key": {
			func(tm *timer.Timer) { tm.Key = long },
			func(tm *timer.Timer) { tm.Key = " \t" },
			func(tm *timer.Timer) { tm.Key = "a\x00b" },
			func(tm *timer.Timer) { tm.Key = "\xff" },
		},
		"topic": {
			func(tm *timer.Timer) { tm.Topic = "" },
			func(tm *timer.Timer) { tm.Topic = " " },
			func(tm *timer.Timer) { tm.Topic = long },
		},
		"correlation id": {func(tm *timer.Timer) { tm.CorrelationID = long }},
		"queue":          {func(tm *timer.Timer) { tm.Queue = long }, func(tm *timer.Timer) { tm.Queue = " " }},
		"priority":       {func(tm *timer.Timer) { tm.Priority = 101 }, func(tm *timer.Timer) { tm.Priority = -101 }},
		"payload":        {func(tm *timer.Timer) { tm.Payload = make([]byte, limits.Payload+1) }},
		"header name":    {func(tm *timer.Timer) { tm.Headers = map[string]string{"": "v"} }},
		"headers":        {func(tm *timer.Timer) { tm.Headers = map[string]string{"k": strings.Repeat("v", limits.HeaderBytes)} }},
	}
	for field, spoilings := range refused {
		for _, spoil := range spoilings {
			tm := f.due()
			spoil(&tm)
			_, err := f.Schedule(f.ctx(), tm)
			f.refused(field, err)
			f.inTx(true, func(tx outbox.Tx) {
				_, err := f.ScheduleTx(f.ctx(), tx, tm)
				f.refused(field, err)
			})
		}
	}
	f.stored(0)
}

// D-71: one mistake and nothing of the batch is stored; a key names one timer.
func TestRefusedBatch(t *testing.T) { dbtest.Each(t, testRefusedBatch) }

func testRefusedBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, last := range map[string]timer.Timer{
		"due time": {Topic: "t"},
		"topic":    {Due: f.past()},
		"key":      {Topic: "t", Due: f.past(), Key: "k"},
	} {
		first := f.due()
		first.Key = "k"
		ids, err := f.ScheduleBatch(f.ctx(), []timer.Timer{first, f.due(), last})
		f.refused(field, err)
		if ids != nil {
			t.Fatalf("ids %v with an error", ids)
		}
	}
	f.stored(0)
}

// D-2, D-73: the other calls look at what they are given as well.
func TestRefusedCalls(t *testing.T) { dbtest.Each(t, testRefusedCalls) }

func testRefusedCalls(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	owner := outbox.NewOwnerToken()
	_, err := f.Reschedule(f.ctx(), id, time.Time{})
	f.refused("due time", err)
	_, err = f.Reschedule(f.ctx(), id, inYear(10_000))
	f.refused("due time", err)
	_, err = f.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Unix(math.MaxInt64, 0)})
	f.refused("due time", err)
	for _, key := range []string{"", " ", strings.Repeat("k", limits.TimerKey+1)} {
		_, err = f.CancelKey(f.ctx(), key)
		f.refused("key", err)
	}
	_, err = f.WorkQueue().Claim(f.ctx(), outbox.OwnerToken{}, lease, 1)
	f.refused("owner token", err)
	_, err = f.WorkQueue().Claim(f.ctx(), owner, time.Microsecond, 1)
	f.refused("lease", err)
	_, err = f.WorkQueue().Claim(f.ctx(), owner, lease, 0)
	f.refused("batch size", err)
	_, err = engine.Collect(f.List(f.ctx(), timer.ListOptions{Status: "over"}), 100)
	f.refused("status", err)
	f.get(id, timer.Scheduled)
}

// D-2, D-71: what is just within the limits is stored.
func TestLimits(t *testing.T) { dbtest.Each(t, testLimits) }

func testLimits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	most := strings.Repeat("ü", 255)
	for _, due := range []time.Time{inYear(1970), inYear(9999)} {
		tm := timer.Timer{Topic: most, Key: most, CorrelationID: most, Queue: most, Priority: -100, Due: due, Payload: make([]byte, limits.Payload)}
		got := f.get(f.put(tm), timer.Scheduled)
		if got.Key != most || !got.Due.Equal(due) || len(got.Payload) != limits.Payload {
			t.Fatalf("due %v: stored with key %q, due %v and %d bytes", due, got.Key, got.Due, len(got.Payload))
		}
	}
}

func TestNoTransaction(t *testing.T) { dbtest.Each(t, testNoTransaction) }

func testNoTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	_, err := f.ScheduleTx(f.ctx(), nil, f.due())
	f.refused("transaction", err)
	_, err = f.ScheduleBatchTx(f.ctx(), nil, []timer.Timer{f.due()})
	f.refused("transaction", err)
	_, err = f.CancelTx(f.ctx(), nil, id)
	f.refused("transaction", err)
	_, err = f.CancelKeyTx(f.ctx(), nil, "k")
	f.refused("transaction", err)
	_, err = f.RescheduleTx(f.ctx(), nil, id, f.future())
	f.refused("transaction", err)
	f.stored(1)
}

// D-4, D-5: a context that has ended leaves nothing behind, and no error names the
// payload.
func TestEndedContext(t *testing.T) { dbtest.Each(t, testEndedContext) }

func testEndedContext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	ctx, cancel := context.WithCancel(f.ctx())
	cancel()
	tm := f.due()
	tm.Payload = []byte("secret")
	if _, err := f.Schedule(ctx, tm); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "secret") {
		t.Fatalf("schedule: %v", err)
	}
	if yes, err := f.Cancel(ctx, id); !errors.Is(err, context.Canceled) || yes {
		t.Fatalf("cancel: %v, %v", yes, err)
	}
	if n, err := f.Sources[0].Dispatch(ctx); !errors.Is(err, context.Canceled) || n != 0 {
		t.Fatalf("fire: %d, %v", n, err)
	}
	f.stored(1)
	f.get(id, timer.Scheduled)
}

func TestEmptyBatch(t *testing.T) { dbtest.Each(t, testEmptyBatch) }

func testEmptyBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if ids, err := f.ScheduleBatch(f.ctx(), nil); err != nil || len(ids) != 0 {
		t.Fatalf("%v, %v", ids, err)
	}
	f.inTx(true, func(tx outbox.Tx) {
		_, err := f.ScheduleBatchTx(f.ctx(), tx, []timer.Timer{})
		f.check(err)
	})
	f.touched(0)(f.WorkQueue().Ack(f.ctx(), outbox.NewOwnerToken()))
	f.touched(0)(f.WorkQueue().Abandon(f.ctx(), outbox.NewOwnerToken(), nil))
	f.stored(0)
}
