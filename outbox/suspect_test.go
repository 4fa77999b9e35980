package outbox_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// lapse lets all leases run out at once.
func (f *fixture) lapse() {
	f.t.Helper()
	f.exec("UPDATE " + f.db.Table("outbox_claim") + " SET locked_until = " + f.past())
}

// past is a time of the past in SQL.
func (f *fixture) past() string {
	if f.db.Engine() == "sqlite" {
		return "1"
	}
	return "'2000-01-01'"
}

func (f *fixture) exec(statement string) {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// rows counts the rows of an answer.
func (f *fixture) rows(query string) (n int) {
	f.t.Helper()
	rows, err := f.db.SQL.QueryContext(f.ctx(), query)
	if err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// uncounted insists on no attempt counted but for some messages.
func (f *fixture) uncounted(ids []outbox.Position, guilty ...outbox.Position) {
	f.t.Helper()
	for _, id := range ids {
		if got := f.get(id); !slices.Contains(guilty, id) && (got.RetryCount != 0 || got.LastError != "") {
			f.t.Fatalf("message %d lost an attempt: %+v", id, got)
		}
	}
}

// D-12: what a worker held that ended comes back in one claim, however many runs it
// was, and without an attempt counted; handled, it leaves no trace.
func TestSuspectsOfAPlainCrash(t *testing.T) { dbtest.Each(t, testSuspectsOfAPlainCrash) }

func testSuspectsOfAPlainCrash(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(60)
	owner, _ := f.claimExactly(60)
	for i := 3; i < 60; i += 7 { // what is left lies in many runs
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[i]))
	}
	f.lapse()
	owner, msgs := f.claimExactlyOf(100, 60-9)
	f.uncounted(ids)
	f.touched(int64(len(msgs)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	f.counts(outbox.Counts{Done: 60})
	if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table("outbox_exception")); n != 0 {
		t.Fatalf("%d traces are left", n)
	}
	f.claimExactly(0)
}

// claimExactlyOf claims up to n messages and insists on how many there are.
func (f *fixture) claimExactlyOf(n, want int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner, msgs := f.claim(n)
	if len(msgs) != want {
		f.t.Fatalf("claimed %d messages of up to %d, want %d", len(msgs), n, want)
	}
	return owner, msgs
}

// D-12: suspects that expire again are claimed by halves; one alone that expires
// has failed an attempt.
func TestSuspectHalves(t *testing.T) { dbtest.Each(t, testSuspectHalves) }

func testSuspectHalves(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(8)
	f.claimExactly(8)
	for size := 8; size > 0; size /= 2 {
		f.lapse()
		for range 8 / size {
			f.claimExactlyOf(100, size)
		}
		f.claimExactly(0)
		f.uncounted(ids)
	}
	f.lapse()
	f.touched(8)(f.WorkQueue("").ReapExpired(f.ctx()))
	for _, id := range ids {
		if got := f.get(id); got.RetryCount != 1 || got.LastError != "lease expired" {
			t.Fatalf("message %d is %+v", id, got)
		}
	}
	f.claimExactlyOf(100, 1) // and stays alone
}

// D-12: a message that kills whoever handles it is found in log2(n) claims, and it
// alone loses attempts.
func TestSuspectIsFound(t *testing.T) { dbtest.Each(t, testSuspectIsFound) }

func testSuspectIsFound(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(100)
	poison := ids[37]
	crashes := 0
	for crashes < 20 && f.get(poison).RetryCount < 3 {
		owner, msgs := f.claim(500)
		if len(msgs) == 0 {
			t.Fatal("nothing is due")
		}
		if slices.Contains(positions(msgs), poison) {
			crashes++
			f.lapse()
			f.touched(int64(len(msgs)))(f.WorkQueue("").ReapExpired(f.ctx()))
			continue
		}
		f.touched(int64(len(msgs)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	}
	if crashes > 2+7+3 { // the first, the first of suspects, log2(100), and three attempts
		t.Fatalf("%d crashes", crashes)
	}
	f.uncounted(ids, poison)
	for owner, msgs := f.claim(500); len(msgs) > 1 || len(msgs) == 1 && msgs[0].Position != poison; owner, msgs = f.claim(500) {
		f.touched(int64(len(msgs)))(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	}
	f.counts(outbox.Counts{Done: 99, InProgress: 1})
}

// D-12, OBX-051: a claim returns suspects or others, suspects first.
func TestSuspectsApart(t *testing.T) { dbtest.Each(t, testSuspectsApart) }

func testSuspectsApart(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	first := f.enqueueN(3)
	f.claimExactly(3)
	second := f.enqueueN(4)
	f.lapse()
	if _, msgs := f.claim(100); !slices.Equal(positions(msgs), first) {
		t.Fatalf("claimed %v, want the suspects %v", positions(msgs), first)
	}
	if _, msgs := f.claim(100); !slices.Equal(positions(msgs), second) {
		t.Fatalf("claimed %v, want %v", positions(msgs), second)
	}
}

// D-12: a handler that came to an end clears a message: together with others it is
// claimed again.
func TestSuspectClears(t *testing.T) { dbtest.Each(t, testSuspectClears) }

func testSuspectClears(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(2)
	f.claimExactly(2)
	f.lapse()
	owner, _ := f.claimExactly(2)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), ids[0]))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, nil, ids[1]))
	if n, err := f.Redrive(f.ctx(), outbox.FailedFilter{}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	more := f.enqueueN(1)
	f.db.Pass(10 * time.Millisecond)
	_, msgs := f.claimExactlyOf(100, 3)
	if got := positions(msgs); !slices.Contains(got, more[0]) {
		t.Fatalf("claimed %v", got)
	}
}

// D-12: what was not begun stays suspected, wherever it is moved.
func TestSuspectStays(t *testing.T) { dbtest.Each(t, testSuspectStays) }

func testSuspectStays(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(6)
	f.claimExactly(6)
	f.lapse()
	f.touched(6)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.enqueueN(1)
	if n, err := f.Cancel(f.ctx(), "", ids[2]); n != 1 || err != nil { // which splits the run
		t.Fatal(n, err)
	}
	if n, err := f.Reschedule(f.ctx(), time.Time{}, ids[4]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	owner, msgs := f.claimExactlyOf(100, 5)
	f.touched(1)(f.Release(f.ctx(), owner, ids[0]))
	f.touched(1)(f.Extend(f.ctx(), owner, lease, ids[5]))
	if _, msgs := f.claimExactlyOf(100, 1); msgs[0].Position != ids[0] {
		t.Fatalf("claimed %v", positions(msgs))
	}
	f.lapse()
	f.touched(int64(len(msgs)))(f.WorkQueue("").ReapExpired(f.ctx()))
	f.uncounted(ids[:2], ids[0]) // which was alone
	if _, msgs := f.claimExactlyOf(100, 1); msgs[0].Position != ids[0] || msgs[0].RetryCount != 1 {
		t.Fatalf("claimed %+v", msgs[0])
	}
	f.claimExactlyOf(100, 3) // half of five
	f.claimExactlyOf(100, 1)
}

func TestSuspectPriorities(t *testing.T) { dbtest.Each(t, testSuspectPriorities) }

func testSuspectPriorities(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, p := range []int{5, -5} {
		f.enqueue(outbox.Message{Priority: p})
	}
	f.claimExactly(2)
	f.enqueue(outbox.Message{Priority: -100})
	f.lapse()
	for _, want := range []int{-5, 5, -100} {
		if _, msgs := f.claimExactlyOf(10, 1); msgs[0].Priority != want {
			t.Fatalf("claimed priority %d, want %d", msgs[0].Priority, want)
		}
	}
}

// OBX-026, D-12
func TestSuspectBatchSize(t *testing.T) { dbtest.Each(t, testSuspectBatchSize) }

func testSuspectBatchSize(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(10)
	f.claimExactly(10)
	f.lapse()
	for _, want := range []int{4, 4, 2} {
		f.claimExactlyOf(4, want)
	}
	f.claimExactly(0)
}

// D-12: programs in other languages have the same rule.
func TestSuspectsInSQL(t *testing.T) { dbtest.Each(t, testSuspectsInSQL) }

func testSuspectsInSQL(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if e.Name == "sqlite" {
		testSuspectHalves(t, e) // it has no routines
		return
	}
	ids := f.enqueueN(4)
	claim := func(want int) {
		t.Helper()
		owner := outbox.NewOwnerToken()
		query := "SELECT * FROM %soutbox_claim('%s', 60, 100)"
		if e.Name == "sqlserver" {
			query = "EXEC %soutbox_claim '%s', 60, 100"
		}
		if n := f.rows(fmt.Sprintf(query, f.db.Table(""), owner)); n != want {
			t.Fatalf("claimed %d, want %d", n, want)
		}
	}
	claim(4)
	f.enqueueN(1)
	f.lapse()
	claim(4)
	claim(1)
	f.exec("DELETE FROM " + f.db.Table("outbox_claim") + " WHERE suspect = 0")
	f.lapse()
	reap := "SELECT " + f.db.Table("outbox_reap_expired") + "()"
	if e.Name == "sqlserver" {
		reap = "DECLARE @n int; EXEC @n = " + f.db.Table("outbox_reap_expired") + "; SELECT @n"
	}
	if n := f.db.Count(t, reap); n != 4 {
		t.Fatalf("reaped %d", n)
	}
	claim(2)
	claim(2)
	claim(0)
	f.uncounted(ids)
}

// D-12: a worker handles suspects, and nothing of them shows afterwards.
func TestRunSuspects(t *testing.T) { dbtest.Each(t, testRunSuspects) }

func testRunSuspects(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{StopWhenEmpty: true}))
	ids := f.enqueueN(30)
	f.claimExactly(30)
	f.lapse()
	f.enqueueN(5)
	f.handle("t", func(context.Context, *outbox.Message) error { return nil })
	if err := f.Run(f.ctx()); err != nil {
		t.Fatal(err)
	}
	f.counts(outbox.Counts{Done: 35})
	f.uncounted(ids)
	if c := f.Component().Stats(); c.Claimed != 35 || c.Reaped != 30 {
		t.Fatalf("%+v", c)
	}
}

// D-12: while suspects are handled nothing else is, in whatever queue of the
// process, and they wait until what the worker holds is finished.
func TestRunSuspectsAlone(t *testing.T) { dbtest.Each(t, testRunSuspectsAlone) }

func testRunSuspectsAlone(t *testing.T, e dbtest.Engine) {
	f := open(t, e, quick(worker.Options{Queues: []string{outbox.DefaultQueue, "other"}}))
	ids := f.enqueueN(20)
	f.claimExactly(20)
	var suspects, others atomic.Int64 // that run
	var mixed atomic.Bool
	beside := func(mine, theirs *atomic.Int64, work func()) func(context.Context, *outbox.Message) error {
		return func(context.Context, *outbox.Message) error {
			mine.Add(1)
			defer mine.Add(-1)
			mixed.CompareAndSwap(false, theirs.Load() > 0)
			work()
			mixed.CompareAndSwap(false, theirs.Load() > 0)
			return nil
		}
	}
	busy, finish := make(chan struct{}), make(chan struct{})
	f.handle("t", beside(&suspects, &others, runtime.Gosched))
	f.handle("other", beside(&others, &suspects, runtime.Gosched))
	f.handle("long", beside(&others, &suspects, func() { close(busy); <-finish }))
	f.enqueue(outbox.Message{Topic: "long", Queue: "other"})
	f.start()
	<-busy
	f.exec(fmt.Sprintf("UPDATE %s SET locked_until = %s WHERE lo = %d", f.db.Table("outbox_claim"), f.past(), ids[0]))
	dbtest.Until(t, "the suspects are back", func() bool { return f.Component().Stats().Reaped == 20 })
	for range 30 {
		f.enqueue(outbox.Message{Topic: "other", Queue: "other"})
	}
	close(finish)
	dbtest.Until(t, "all are done", func() bool { c, err := f.Count(f.ctx()); return err == nil && c.Done == 51 })
	if mixed.Load() {
		t.Fatal("suspects were handled beside others")
	}
	f.uncounted(ids)
}
