package timer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// whole is a timer with every field.
func (f *fixture) whole() timer.Timer {
	return timer.Timer{
		Topic: "order.expire", Payload: []byte{0, 0xff, 'x', 0}, CorrelationID: "order 7", Headers: map[string]string{"a": "1", "ü": ""},
		Queue: "slow", Priority: -3, Key: "order/7", Due: f.past().Truncate(time.Microsecond),
	}
}

// D-70, D-71: a timer becomes a message with its id and everything it had. One
// whose time is past fires at once.
func TestBecomesMessage(t *testing.T) { dbtest.Each(t, testBecomesMessage) }

func testBecomesMessage(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	want := f.whole()
	id := f.put(want)
	f.noMessage(id)
	f.isWhole(f.get(id, timer.Scheduled).Timer, want, id)
	f.fires(1)
	m := f.message(id)
	if m.Status != outbox.Ready || m.RetryCount != 0 || m.Position != f.get(id, timer.Fired).Position {
		t.Fatalf("the message is %+v", m)
	}
	box := parts.NewOutbox(f.db.DB, worker.Options{StopWhenEmpty: true, Queues: []string{"slow"}, Logger: quiet()})
	var got []*outbox.Message
	box.Handle(want.Topic, func(_ context.Context, m *outbox.Message) error { got = append(got, m); return nil })
	f.check(box.Run(f.ctx()))
	if len(got) != 1 {
		t.Fatalf("%d deliveries", len(got))
	}
	f.isWhole(timer.Timer{
		ID: got[0].ID, Key: want.Key, Due: got[0].Due, Topic: got[0].Topic, Payload: got[0].Payload, CorrelationID: got[0].CorrelationID,
		Headers: got[0].Headers, Queue: got[0].Queue, Priority: got[0].Priority,
	}, want, id)
	f.fires(0)
}

func (f *fixture) isWhole(got, want timer.Timer, id timer.ID) {
	f.t.Helper()
	if !got.Due.Equal(want.Due) || !maps.Equal(got.Headers, want.Headers) || got.ID != id {
		f.t.Fatalf("got %+v, want %+v", got, want)
	}
	got.Due, got.Headers, got.ID = want.Due, want.Headers, want.ID
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Fatalf("got %+v, want %+v", got, want)
	}
}

// D-71: nothing fires before its time, and then it does.
func TestNotBeforeDue(t *testing.T) { dbtest.Each(t, testNotBeforeDue) }

func testNotBeforeDue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const far = 300 * time.Millisecond
	soon := f.put(timer.Timer{Topic: "t", Due: f.now().Add(far)})
	late := f.put(timer.Timer{Topic: "t", Due: f.now().Add(time.Minute)})
	f.put(f.due()) // takes none with it
	f.dispatch()
	if m, err := f.box.Get(f.ctx(), soon); err == nil && m.CreatedAt.Before(m.Due) { // a slow machine may get here late
		t.Fatalf("fired at %v, due at %v", m.CreatedAt, m.Due)
	}
	f.pass(far)
	f.dispatch()
	f.message(soon)
	f.noMessage(late)
	f.get(late, timer.Scheduled)
}

// D-71, D-21: what is due fires first due first, whichever was scheduled first.
func TestDueOrder(t *testing.T) { dbtest.Each(t, testDueOrder) }

func testDueOrder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var ids []timer.ID
	for i := range 4 {
		ids = append(ids, f.put(timer.Timer{Topic: "t", Due: f.past().Add(-time.Duration(i) * time.Minute)}))
	}
	_, got := f.claim(4)
	f.same(got, ids[3], ids[2], ids[1], ids[0])
}

// D-8, D-71: a due time before 1970 means now: the timer fires with the next
// dispatch, in its turn, and not before those that are due already. Only a
// forgotten one is refused.
func TestDueBefore1970(t *testing.T) { dbtest.Each(t, testDueBefore1970) }

func testDueBefore1970(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	first := f.put(f.due())
	for _, due := range []time.Time{time.Unix(0, -1), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		tm := timer.Timer{Topic: "t", Due: due}
		alone := f.put(tm)
		mixed, err := f.ScheduleBatch(f.ctx(), []timer.Timer{tm, {Topic: "t", Due: f.future()}})
		f.check(err)
		f.changed(true)(f.Reschedule(f.ctx(), mixed[1], due))
		for _, id := range append(mixed, alone) {
			if got := f.get(id, timer.Scheduled); got.Due.Before(f.past()) || !got.NextAttemptAt.Equal(got.Due) || got.Due.After(f.future()) {
				t.Fatalf("a timer due at %d is kept as due at %v, next attempt at %v", due.Unix(), got.Due, got.NextAttemptAt)
			}
		}
		f.db.Pass(time.Millisecond)
	}
	if _, got := f.claim(10); got[0] != first {
		t.Fatalf("%v came first, want %v", got[0], first)
	}
}

// D-3, D-70: a timer in a caller's transaction is there if that commits.
func TestScheduleTx(t *testing.T) { dbtest.Each(t, testScheduleTx) }

func testScheduleTx(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{true, false} {
		var ids []timer.ID
		f.inTx(commit, func(tx outbox.Tx) {
			id, err := f.ScheduleTx(f.ctx(), tx, f.whole())
			f.check(err)
			more, err := f.ScheduleBatchTx(f.ctx(), tx, []timer.Timer{f.due(), {Topic: "new queue", Queue: "q", Due: f.past()}})
			f.check(err)
			ids = append(more, id)
		})
		if !commit {
			for _, id := range ids {
				f.unknown(id)
			}
			f.fires(0)
			continue
		}
		f.fires(3)
		for _, id := range ids {
			f.message(id)
		}
	}
}

func (f *fixture) unknown(id timer.ID) {
	f.t.Helper()
	if got, err := f.Get(f.ctx(), id); !errors.Is(err, timer.ErrNotFound) {
		f.t.Fatalf("want ErrNotFound, got %+v, %v", got, err)
	}
}

// D-71: ids are in the order of the timers.
func TestScheduleBatch(t *testing.T) { dbtest.Each(t, testScheduleBatch) }

func testScheduleBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var all []timer.Timer
	for i := range 10 {
		tm := timer.Timer{Topic: fmt.Sprint("t", i%3), Payload: fmt.Append(nil, i), Due: f.past().Add(time.Duration(10-i) * time.Second), Queue: fmt.Sprint("q", i%2)}
		if i%3 == 0 {
			tm.Key = fmt.Sprint("k", i)
		}
		if i%4 == 0 {
			tm.ID = timer.ID(uuid.New())
		}
		all = append(all, tm)
	}
	ids, err := f.ScheduleBatch(f.ctx(), all)
	f.check(err)
	for i, id := range ids {
		got := f.get(id, timer.Scheduled)
		if got.Topic != all[i].Topic || got.Key != all[i].Key || got.Queue != all[i].Queue || string(got.Payload) != fmt.Sprint(i) {
			t.Fatalf("timer %d is %+v", i, got)
		}
	}
	f.fires(10)
	for i, id := range ids {
		if m := f.message(id); m.Queue != all[i].Queue || string(m.Payload) != fmt.Sprint(i) {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
}

// D-490: a key that two timers of a batch have is refused, with their places.
func TestScheduleBatchDistinct(t *testing.T) { dbtest.Each(t, testScheduleBatchDistinct) }

func testScheduleBatchDistinct(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tm := timer.Timer{Topic: "t", Due: f.past(), Key: "k"}
	_, err := f.ScheduleBatch(f.ctx(), []timer.Timer{{Topic: "t", Due: f.past()}, tm, tm})
	if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), `key: "k" is given twice, at 1 and 2`) {
		t.Error(err)
	}
	f.fires(0)
}

// D-71: a batch of any size is one transaction, and so is each part of it that
// fires: the outbox has as many messages as there are timers less.
func TestScheduleBatchOfMany(t *testing.T) { dbtest.Each(t, testScheduleBatchOfMany) }

func testScheduleBatchOfMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 2500
	ids := f.putN(n)
	seen := map[timer.ID]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != n {
		t.Fatalf("%d ids for %d timers", len(seen), n)
	}
	for fired := 0; fired < n; {
		got, err := f.Sources[0].Dispatch(f.ctx())
		f.check(err)
		if fired += int(got); got == 0 || f.rows("outbox_message") != fired {
			t.Fatalf("%d fired, %d in all, and %d messages", got, fired, f.rows("outbox_message"))
		}
	}
	if c := f.deliver(); len(c) != n {
		t.Fatalf("%d of %d were delivered", len(c), n)
	}
}

// deliver handles what is in the outbox and returns how often each came.
func (f *fixture) deliver() map[timer.ID]int {
	f.t.Helper()
	box := parts.NewOutbox(f.db.DB, worker.Options{StopWhenEmpty: true, Logger: quiet(), BatchSize: 500})
	var mu sync.Mutex
	times := map[timer.ID]int{}
	box.Handle("t", func(_ context.Context, m *outbox.Message) error {
		mu.Lock()
		defer mu.Unlock()
		times[m.ID]++
		return nil
	})
	f.check(box.Run(f.ctx()))
	return times
}

// D-10, D-70: a supplied id makes scheduling idempotent in every state, also when
// its key is another timer's by now: that one is left alone.
func TestSuppliedID(t *testing.T) { dbtest.Each(t, testSuppliedID) }

func testSuppliedID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tm := f.whole()
	tm.ID, tm.Queue, tm.Topic = timer.ID(uuid.New()), "", "t"
	again := func() {
		t.Helper()
		changed := tm
		changed.Payload, changed.Due = []byte("other"), f.future()
		f.put(changed)
		f.inTx(true, func(tx outbox.Tx) {
			_, err := f.ScheduleTx(f.ctx(), tx, changed)
			f.check(err)
		})
	}
	f.put(tm)
	again()
	f.stored(1)
	f.isWhole(f.get(tm.ID, timer.Scheduled).Timer, withQueue(tm), tm.ID)

	f.fires(1)
	again()
	f.get(tm.ID, timer.Fired)
	f.fires(0)

	heir := f.put(timer.Timer{Topic: "t", Key: tm.Key, Due: f.past()})
	again()
	f.get(heir, timer.Scheduled)
	f.changed(true)(f.Cancel(f.ctx(), heir))
	again()
	f.get(heir, timer.Cancelled)
	f.stored(2)
	if got := f.deliver(); len(got) != 1 || got[tm.ID] != 1 {
		t.Fatalf("delivered %v", got)
	}
}

func withQueue(tm timer.Timer) timer.Timer {
	tm.Queue = outbox.DefaultQueue
	return tm
}

// D-10: one of two timers with one id in a batch is stored; the other's key stays
// whose it was.
func TestSuppliedIDTwice(t *testing.T) { dbtest.Each(t, testSuppliedIDTwice) }

func testSuppliedIDTwice(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := timer.ID(uuid.New())
	bystander := f.put(timer.Timer{Topic: "t", Key: "b", Due: f.past()})
	ids, err := f.ScheduleBatch(f.ctx(), []timer.Timer{
		{Topic: "t", ID: id, Key: "a", Due: f.past()},
		{Topic: "t", ID: id, Key: "b", Due: f.past()},
	})
	f.check(err)
	f.same(ids, id, id)
	f.get(bystander, timer.Scheduled)
	if got := f.get(id, timer.Scheduled); got.Key != "a" {
		t.Fatalf("stored with key %q", got.Key)
	}
	f.stored(2)
	f.fires(2)
}

// D-4, D-10: an id that pawl made may be supplied too, as after an unknown commit,
// by this process and by another.
func TestMadeIDAgain(t *testing.T) { dbtest.Each(t, testMadeIDAgain) }

func testMadeIDAgain(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	for _, state := range []timer.Status{timer.Scheduled, timer.Cancelled, timer.Fired} {
		id := f.put(f.due())
		switch state {
		case timer.Cancelled:
			f.changed(true)(f.Cancel(f.ctx(), id))
		case timer.Fired:
			f.fires(2)
		}
		tm := f.due()
		tm.ID = id
		f.put(tm)
		other.put(tm)
		f.get(id, state)
	}
	f.stored(3)
	f.fires(0)
}

// D-71: a supplied id that the outbox knows adds no second message, and does not
// hold up its neighbours.
func TestSuppliedIDOutboxKnows(t *testing.T) { dbtest.Each(t, testSuppliedIDOutboxKnows) }

func testSuppliedIDOutboxKnows(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := timer.ID(uuid.New())
	_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", ID: id, Payload: []byte("first")})
	f.check(err)
	before := f.put(f.due())
	f.put(timer.Timer{Topic: "t", ID: id, Due: f.past()})
	after := f.put(f.due())
	f.fires(3)
	got := f.deliver()
	if len(got) != 3 || got[id] != 1 || got[before] != 1 || got[after] != 1 {
		t.Fatalf("delivered %v", got)
	}
	f.get(id, timer.Fired)
}

// D-327: nor does the id of a message that pawl made, whoever schedules the timer.
func TestMadeIDOutboxKnows(t *testing.T) { dbtest.Each(t, testMadeIDOutboxKnows) }

func testMadeIDOutboxKnows(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	want := map[timer.ID]int{f.put(f.due()): 1}
	for _, by := range []*fixture{f, other} {
		id, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte("first")})
		f.check(err)
		by.put(timer.Timer{Topic: "t", ID: id, Due: f.past()})
		want[id] = 1
	}
	want[f.put(f.due())] = 1
	f.dispatch()
	for id := range want {
		f.get(id, timer.Fired)
	}
	if got := f.deliver(); !maps.Equal(got, want) {
		t.Fatalf("delivered %v, want %v", got, want)
	}
}

// D-10: of many who schedule one id at once, one does.
func TestSuppliedIDAtOnce(t *testing.T) { dbtest.Each(t, testSuppliedIDAtOnce) }

func testSuppliedIDAtOnce(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	other := on(t, f.db, f.db.Another(t), timer.Options{})
	for round := range 5 {
		tm := f.due()
		tm.ID = timer.ID(uuid.New())
		if round%2 == 0 {
			tm.Key = "k"
		}
		f.together(8, func(i int) error {
			_, err := []*fixture{f, other}[i%2].Schedule(f.ctx(), tm)
			return err
		})
		f.stored(round + 1)
		f.fires(1)
		f.message(tm.ID)
	}
}

// D-10: an id that only looks like one of pawl's is nobody's position.
func TestForeignVersion8(t *testing.T) { dbtest.Each(t, testForeignVersion8) }

func testForeignVersion8(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	mine := f.put(f.due())
	foreign := mine
	foreign[7] ^= 0xff // the same position in another database
	f.unknown(foreign)
	f.changed(false)(f.Cancel(f.ctx(), foreign))
	f.changed(false)(f.Reschedule(f.ctx(), foreign, f.past()))
	tm := f.due()
	tm.ID = foreign
	f.put(tm)
	f.put(tm)
	f.stored(2)
	f.get(foreign, timer.Scheduled)
	f.fires(2)
	f.message(mine)
	f.message(foreign)
	if got := f.deliver(); len(got) != 2 {
		t.Fatalf("delivered %v", got)
	}
}

// D-10: a message that is enqueued under the id of a timer that fired is known.
func TestMessageWithTimersID(t *testing.T) { dbtest.Each(t, testMessageWithTimersID) }

func testMessageWithTimersID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	supplied := f.due()
	supplied.ID = timer.ID(uuid.New())
	ids := []timer.ID{f.put(f.due()), f.put(supplied)}
	f.fires(2)
	for _, id := range ids {
		_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", ID: id})
		f.check(err)
	}
	if got := f.deliver(); len(got) != 2 || got[supplied.ID] != 1 {
		t.Fatalf("delivered %v", got)
	}
}

// D-10, D-494: a message that is enqueued under the id of a timer that is yet to fire adds none, by
// itself, among others, in a transaction, and with a unique key; the timer fires as it was to.
func TestMessageWithWaitingTimersID(t *testing.T) { dbtest.Each(t, testMessageWithWaitingTimersID) }

func testMessageWithWaitingTimersID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	waiting := f.due()
	waiting.Due = time.Now().Add(time.Hour)
	id, gone := f.put(waiting), f.put(waiting)
	f.changed(true)(f.Cancel(f.ctx(), gone))
	m := outbox.Message{Topic: "t", ID: id}
	_, err := f.box.Enqueue(f.ctx(), m)
	f.check(err)
	_, err = f.box.EnqueueBatch(f.ctx(), []outbox.Message{m, {Topic: "t"}, m})
	f.check(err)
	f.check(f.db.DB.InTx(f.ctx(), func(ctx context.Context, tx outbox.Tx) error {
		_, err := f.box.EnqueueTx(ctx, tx, m)
		return err
	}))
	keyed := m
	keyed.UniqueKey = "k"
	_, err = f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", UniqueKey: "k"})
	f.check(err)
	got, err := f.box.Enqueue(f.ctx(), keyed)
	if f.check(err); got != id {
		t.Errorf("with a unique key it became %s", got)
	}
	_, err = f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", ID: gone}) // it never fires
	f.check(err)
	if got := f.deliver(); len(got) != 3 || got[id] != 0 || got[gone] != 1 {
		t.Fatalf("delivered %v", got)
	}
	f.changed(true)(f.Reschedule(f.ctx(), id, f.past()))
	f.fires(1)
	if got := f.deliver(); len(got) != 1 || got[id] != 1 {
		t.Fatalf("delivered after it fired: %v", got)
	}
}

// D-2: no payload is a payload.
func TestEmptyPayload(t *testing.T) { dbtest.Each(t, testEmptyPayload) }

func testEmptyPayload(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.put(f.due())
	if got := f.get(id, timer.Scheduled); len(got.Payload) != 0 || got.Key != "" || got.CorrelationID != "" || got.Headers != nil || got.Queue != outbox.DefaultQueue {
		t.Fatalf("stored %+v", got)
	}
	f.fires(1)
	if m := f.message(id); len(m.Payload) != 0 {
		t.Fatalf("payload %q", m.Payload)
	}
}
