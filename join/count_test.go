package join_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

func succeed(context.Context, *outbox.Message) error { return nil }

func failForGood(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) }

// OBX-033, OBX-089, OBX-090, JOIN-001, JOIN-014, JOIN-015, D-30: a batch counts every message.
func TestAckCounts(t *testing.T) { dbtest.Each(t, testAckCounts) }

func testAckCounts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(4)
	owner, items := f.claim(4)
	f.ack(owner, items[msgs[0]], items[msgs[2]], items[msgs[3]])
	f.progress(id, 3, 0, join.Pending)
	if n, err := f.box.WorkQueue("").Ack(f.ctx(), owner, items[msgs[0]]); n != 0 || err != nil {
		t.Fatalf("acked again: %d, %v", n, err)
	}
	f.progress(id, 3, 0, join.Pending)
	f.ack(owner, items[msgs[1]])
	f.progress(id, 4, 0, join.Completed)
}

// OBX-046, OBX-092, JOIN-003, JOIN-017, D-30
func TestFailCounts(t *testing.T) { dbtest.Each(t, testFailCounts) }

func testFailCounts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(5)
	owner, items := f.claim(5)
	f.ack(owner, items[msgs[0]])
	f.fail(owner, items[msgs[1]], items[msgs[2]])
	f.progress(id, 1, 2, join.Pending)
	f.fail(owner, items[msgs[4]])
	f.progress(id, 1, 3, join.Pending)
	f.ack(owner, items[msgs[3]])
	f.progress(id, 2, 3, join.Failed)
}

// OBX-034, OBX-047, JOIN-002, JOIN-004: the loop settles acks and failures of a
// batch in one transaction, and all of them count.
func TestSettledTogether(t *testing.T) { dbtest.Each(t, testSettledTogether) }

func testSettledTogether(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	good, err := f.FanOut(f.ctx(), join.Spec{}, steps("good", 40), join.Wait{})
	f.check(err)
	bad, err := f.FanOut(f.ctx(), join.Spec{}, append(steps("bad", 30), steps("good", 10)...), join.Wait{})
	f.check(err)
	f.drain(map[string]outbox.Handler{"good": succeed, "bad": failForGood})
	f.progress(good.Join, 40, 0, join.Completed)
	f.progress(bad.Join, 10, 30, join.Failed)
}

func steps(topic string, n int) []outbox.Message {
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i].Topic = topic
	}
	return msgs
}

// JOIN-001, OBX-096, JOIN-021
func TestSharedMembers(t *testing.T) { dbtest.Each(t, testSharedMembers) }

func testSharedMembers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	a, msgs := f.members(3)
	b := f.start(2)
	f.check(f.Attach(f.ctx(), b, msgs[1], msgs[2]))
	owner, items := f.claim(3)
	f.ack(owner, items[msgs[0]], items[msgs[1]])
	f.progress(a, 2, 0, join.Pending)
	f.progress(b, 1, 0, join.Pending)
	f.fail(owner, items[msgs[2]])
	f.progress(a, 2, 1, join.Failed)
	f.progress(b, 1, 1, join.Failed)
}

// OBX-033, D-30: only what the call really settled counts.
func TestForeignIDs(t *testing.T) { dbtest.Each(t, testForeignIDs) }

func testForeignIDs(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(4)
	mine, myItems := f.claim(2)
	_, theirItems := f.claim(2)
	all := []outbox.Position{1 << 40}
	for _, items := range []map[outbox.MessageID]outbox.Position{myItems, theirItems} {
		for _, at := range items {
			all = append(all, at)
		}
	}
	n, err := f.box.WorkQueue("").Ack(f.ctx(), mine, append(all, all...)...)
	f.check(err)
	if n != 2 {
		t.Fatalf("acked %d messages, want 2", n)
	}
	f.progress(id, 2, 0, join.Pending)
	stranger := outbox.NewOwnerToken()
	if n, err := f.box.WorkQueue("").Fail(f.ctx(), stranger, nil, all...); n != 0 || err != nil {
		t.Fatalf("a stranger failed %d: %v", n, err)
	}
	f.progress(id, 2, 0, join.Pending)
	_ = msgs
}

// JOIN-003: a failed attempt is not the end of the step.
func TestRetriesDoNotCount(t *testing.T) { dbtest.Each(t, testRetriesDoNotCount) }

func testRetriesDoNotCount(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	for range 3 {
		owner, items := f.claim(1)
		if _, err := f.box.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, errors.New("again")), items[msgs[0]]); err != nil {
			t.Fatal(err)
		}
		f.progress(id, 0, 0, join.Pending)
	}
	owner, items := f.claim(1)
	if _, err := f.box.Release(f.ctx(), owner, items[msgs[0]]); err != nil {
		t.Fatal(err)
	}
	f.progress(id, 0, 0, join.Pending)
	owner, items = f.claim(1)
	f.ack(owner, items[msgs[0]])
	f.progress(id, 1, 0, join.Completed)
}

// D-31
func TestAttachAfterTheEnd(t *testing.T) { dbtest.Each(t, testAttachAfterTheEnd) }

func testAttachAfterTheEnd(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	msgs := f.enqueue("step", 5)
	owner, items := f.claim(5)
	f.ack(owner, items[msgs[0]], items[msgs[1]])
	f.fail(owner, items[msgs[2]], items[msgs[3]])
	if b, err := f.box.Discard(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{items[msgs[3]]}}); b.Changed != 1 || err != nil {
		t.Fatalf("discarded %d: %v", b.Changed, err)
	}
	id := f.start(5)
	f.check(f.Attach(f.ctx(), id, msgs...))
	f.progress(id, 2, 2, join.Pending)
	f.check(f.Attach(f.ctx(), id, msgs...))
	f.progress(id, 2, 2, join.Pending)
	f.ack(owner, items[msgs[4]])
	f.progress(id, 3, 2, join.Failed)
	tx := f.db.Begin(t)
	late, err := f.StartTx(f.ctx(), tx, join.Spec{ExpectedSteps: 2})
	f.check(err)
	f.check(f.AttachTx(f.ctx(), tx, late, msgs[0], msgs[4]))
	f.check(tx.Commit())
	f.progress(late, 2, 0, join.Completed)
}

// D-32
func TestMoreThanExpected(t *testing.T) { dbtest.Each(t, testMoreThanExpected) }

func testMoreThanExpected(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(2), f.enqueue("step", 5)
	f.check(f.Attach(f.ctx(), id, msgs...))
	owner, items := f.claim(5)
	f.ack(owner, items[msgs[0]], items[msgs[1]], items[msgs[2]], items[msgs[3]])
	f.progress(id, 2, 0, join.Completed)
	f.fail(owner, items[msgs[4]])
	f.progress(id, 2, 0, join.Completed)
	more := f.enqueue("step", 1)
	f.check(f.Attach(f.ctx(), id, more...))
	f.progress(id, 2, 0, join.Completed)
	part, rest := f.start(3), f.enqueue("step", 5) // and when some are counted already
	f.check(f.Attach(f.ctx(), part, rest...))
	_, _ = f.claim(1) // of before
	owner, items = f.claim(5)
	f.ack(owner, items[rest[0]], items[rest[1]])
	f.progress(part, 2, 0, join.Pending)
	f.ack(owner, items[rest[2]], items[rest[3]], items[rest[4]])
	f.progress(part, 3, 0, join.Completed)
	settled := f.start(1) // and when they are attached as settled ones
	f.check(f.Attach(f.ctx(), settled, msgs[:4]...))
	f.progress(settled, 1, 0, join.Completed)
}

// OBX-085, OBX-086, OBX-087, OBX-088, JOIN-010, JOIN-011, JOIN-012, JOIN-013
func TestReportCounts(t *testing.T) { dbtest.Each(t, testReportCounts) }

func testReportCounts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(3)
	counted := func(want bool) func(bool, error) {
		return func(got bool, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Fatalf("counted: %v, %v, want %v", got, err, want)
			}
		}
	}
	counted(true)(f.ReportCompleted(f.ctx(), id, msgs[0]))
	counted(false)(f.ReportCompleted(f.ctx(), id, msgs[0]))
	counted(false)(f.ReportFailed(f.ctx(), id, msgs[0]))
	f.progress(id, 1, 0, join.Pending)
	counted(true)(f.ReportFailed(f.ctx(), id, msgs[1]))
	counted(false)(f.ReportFailed(f.ctx(), id, msgs[1]))
	counted(false)(f.ReportCompleted(f.ctx(), id, msgs[1]))
	f.progress(id, 1, 1, join.Pending)
	counted(true)(f.ReportCompleted(f.ctx(), id, msgs[2]))
	f.progress(id, 2, 1, join.Failed)
	counted(false)(f.ReportFailed(f.ctx(), id, msgs[2]))
	f.progress(id, 2, 1, join.Failed)
}

// D-30: whichever report comes first wins; here the manual one.
func TestReportFirst(t *testing.T) { dbtest.Each(t, testReportFirst) }

func testReportFirst(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(3)
	for i, report := range []func(context.Context, join.ID, outbox.MessageID) (bool, error){f.ReportFailed, f.ReportCompleted} {
		if counted, err := report(f.ctx(), id, msgs[i]); !counted || err != nil {
			t.Fatalf("counted: %v, %v", counted, err)
		}
	}
	owner, items := f.claim(3)
	f.ack(owner, items[msgs[0]])
	f.fail(owner, items[msgs[1]])
	f.progress(id, 1, 1, join.Pending)
	f.ack(owner, items[msgs[2]])
	f.progress(id, 2, 1, join.Failed)
}

// D-30: here the automatic one.
func TestSettledFirst(t *testing.T) { dbtest.Each(t, testSettledFirst) }

func testSettledFirst(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	owner, items := f.claim(2)
	f.ack(owner, items[msgs[0]])
	if counted, err := f.ReportFailed(f.ctx(), id, msgs[0]); counted || err != nil {
		t.Fatalf("counted: %v, %v", counted, err)
	}
	f.fail(owner, items[msgs[1]])
	if counted, err := f.ReportCompleted(f.ctx(), id, msgs[1]); counted || err != nil {
		t.Fatalf("counted: %v, %v", counted, err)
	}
	f.progress(id, 1, 1, join.Failed)
}

// D-31
func TestReportUnknown(t *testing.T) { dbtest.Each(t, testReportUnknown) }

func testReportUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	other := f.enqueue("step", 1)
	if _, err := f.ReportCompleted(f.ctx(), uuid.New(), msgs[0]); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	for range 2 {
		if _, err := f.ReportFailed(f.ctx(), id, other[0]); !errors.Is(err, join.ErrNotMember) {
			t.Fatalf("want ErrNotMember, got %v", err)
		}
		if _, err := f.ReportCompleted(f.ctx(), id, msgs[0]); err != nil { // the second time it is over
			t.Fatal(err)
		}
	}
	f.progress(id, 1, 0, join.Completed)
}

// D-30: a handler may report its own step; the ack that follows is a no-op.
func TestHandlerReports(t *testing.T) { dbtest.Each(t, testHandlerReports) }

func testHandlerReports(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(2)
	f.drain(map[string]outbox.Handler{"step": func(ctx context.Context, m *outbox.Message) error {
		_, err := f.ReportFailed(ctx, id, m.ID)
		return err
	}})
	f.progress(id, 0, 2, join.Failed)
}

// D-38
func TestRedrive(t *testing.T) { dbtest.Each(t, testRedrive) }

func testRedrive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(3)
	second := f.start(2)
	f.check(f.Attach(f.ctx(), second, msgs[0], msgs[1]))
	owner, items := f.claim(3)
	f.fail(owner, items[msgs[0]])
	if _, err := f.ReportCompleted(f.ctx(), second, msgs[1]); err != nil {
		t.Fatal(err)
	}
	f.fail(owner, items[msgs[1]])
	f.progress(id, 0, 2, join.Pending)
	f.progress(second, 1, 1, join.Failed) // is over
	if b, err := f.box.Redrive(f.ctx(), outbox.FailedFilter{}); b.Changed != 2 || err != nil {
		t.Fatalf("redrove %d: %v", b.Changed, err)
	}
	f.progress(id, 0, 0, join.Pending)
	f.progress(second, 1, 1, join.Failed)
	f.ack(owner, items[msgs[2]])
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.progress(id, 3, 0, join.Completed)
	f.progress(second, 1, 1, join.Failed)
}

// D-38
func TestRedriveAfterTheEnd(t *testing.T) { dbtest.Each(t, testRedriveAfterTheEnd) }

func testRedriveAfterTheEnd(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	owner, items := f.claim(1)
	f.fail(owner, items[msgs[0]])
	f.progress(id, 0, 1, join.Failed)
	if b, err := f.box.Redrive(f.ctx(), outbox.FailedFilter{}); b.Changed != 1 || err != nil {
		t.Fatalf("redrove %d: %v", b.Changed, err)
	}
	f.progress(id, 0, 1, join.Failed)
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.progress(id, 0, 1, join.Failed)
}

// D-30: giving a failed message up changes nothing.
func TestDiscard(t *testing.T) { dbtest.Each(t, testDiscard) }

func testDiscard(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	owner, items := f.claim(2)
	f.fail(owner, items[msgs[0]])
	if b, err := f.box.Discard(f.ctx(), outbox.FailedFilter{}); b.Changed != 1 || err != nil {
		t.Fatalf("discarded %d: %v", b.Changed, err)
	}
	f.progress(id, 0, 1, join.Pending)
}

// D-12: a message that kills its workers ends as a failed step.
func TestExpiredLeasesFailTheStep(t *testing.T) { dbtest.Each(t, testExpiredLeasesFailTheStep) }

func testExpiredLeasesFailTheStep(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	for range 1 + 10 { // the first is not counted, and then as many as the default policy allows
		if _, err := f.box.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), 10*time.Millisecond, 1); err != nil {
			t.Fatal(err)
		}
		f.db.Pass(50 * time.Millisecond)
		if n, err := f.box.WorkQueue("").ReapExpired(f.ctx()); n != 1 || err != nil {
			t.Fatalf("reaped %d: %v", n, err)
		}
		f.progress(id, 0, 0, join.Pending)
	}
	f.drain(map[string]outbox.Handler{"step": succeed})
	if got := f.find(msgs[0]); got.Status != outbox.Failed {
		t.Fatalf("the message is %v", got.Status)
	}
	f.progress(id, 0, 1, join.Failed)
}
