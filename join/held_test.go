package join_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// What an open transaction that holds a message or a join keeps others from,
// and what it does not. SQLite has one writer at a time: it has nothing to ask here.

// onPostgres runs a test on PostgreSQL alone, beside the package's others.
func onPostgres(t *testing.T, test func(*testing.T, dbtest.Engine)) {
	t.Helper()
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.Engine{Name: "postgres", Open: dbtest.OpenPostgres})
	})
}

// D-31, D-39: a claim does not wait for an attach, and gets the message later.
func TestClaimSkipsHeld(t *testing.T) { onPostgres(t, testClaimSkipsHeld) }

func testClaimSkipsHeld(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{true, false} {
		id, msgs := f.start(1), f.enqueue("step", 1)
		tx := f.db.Begin(t)
		f.check(f.AttachTx(f.ctx(), tx, id, msgs...))
		if got, err := f.box.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), lease, 10); err != nil || len(got) > 0 {
			t.Fatalf("claimed %d messages that are held: %v", len(got), err)
		}
		end := tx.Rollback
		want := outcome{status: join.Pending}
		if commit {
			end, want = tx.Commit, outcome{1, 0, join.Completed}
		}
		f.check(end())
		owner, items := f.claim(1)
		f.ack(owner, items[msgs[0]])
		f.progress(id, want.completed, want.failed, want.status)
	}
}

// D-31, D-39: an attach that meets a claim waits, and finds where the message went.
func TestAttachWaitsForClaim(t *testing.T) { onPostgres(t, testAttachWaitsForClaim) }

func testAttachWaitsForClaim(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{true, false} {
		id, msgs := f.start(1), f.enqueue("step", 1)
		owner, tx := outbox.NewOwnerToken(), f.db.Begin(t)
		_, err := tx.ExecContext(f.ctx(), "SELECT FROM "+f.db.Table("outbox_claim")+"($1, 60, 10)", owner.String())
		f.check(err)
		end := tx.Rollback
		if commit {
			end = tx.Commit
		}
		f.overlap(func() error { return f.Attach(f.ctx(), id, msgs...) }, end)
		f.progress(id, 0, 0, join.Pending)
		if !commit {
			owner, _ = f.claim(1)
		}
		f.ack(owner, f.find(msgs[0]).Position)
		f.progress(id, 1, 0, join.Completed)
	}
}

// D-328: an attach of a message that is in no place fails, and does not look for it without end.
func TestAttachToWhatIsInNoPlace(t *testing.T) { onPostgres(t, testAttachToWhatIsInNoPlace) }

func testAttachToWhatIsInNoPlace(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(1), f.enqueue("step", 1)
	_, err := f.db.SQL.ExecContext(f.ctx(), "DELETE FROM "+f.db.Table("outbox_ready"))
	f.check(err)
	if err := f.Attach(f.ctx(), id, msgs...); err == nil || !strings.Contains(err.Error(), "is in no place") {
		t.Errorf("attached: %v", err)
	}
}

// D-31: a caller's long transaction costs no worker its lease.
func TestExtendWhileAttaching(t *testing.T) { onPostgres(t, testExtendWhileAttaching) }

func testExtendWhileAttaching(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(3), f.enqueue("step", 3)
	owner, items := f.claim(3)
	tx := f.db.Begin(t)
	f.check(f.AttachTx(f.ctx(), tx, id, msgs...))
	if n, err := f.box.Extend(f.ctx(), owner, lease, items[msgs[0]], items[msgs[1]], items[msgs[2]]); n != 3 || err != nil {
		t.Fatalf("extended %d leases: %v", n, err)
	}
	f.check(tx.Commit())
	f.ack(owner, items[msgs[0]], items[msgs[1]], items[msgs[2]])
	f.progress(id, 3, 0, join.Completed)
}

// D-31, D-39: nor does it hold up the reaper.
func TestReapSkipsHeld(t *testing.T) { onPostgres(t, testReapSkipsHeld) }

func testReapSkipsHeld(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(1), f.enqueue("step", 1)
	f.claim(1)
	f.lapse()
	tx := f.db.Begin(t)
	f.check(f.AttachTx(f.ctx(), tx, id, msgs...))
	if n, err := f.box.WorkQueue("").ReapExpired(f.ctx()); n != 0 || err != nil {
		t.Fatalf("reaped %d leases that are held: %v", n, err)
	}
	f.check(tx.Commit())
	if n, err := f.box.WorkQueue("").ReapExpired(f.ctx()); n != 1 || err != nil {
		t.Fatalf("reaped %d: %v", n, err)
	}
	owner, items := f.claim(1)
	f.ack(owner, items[msgs[0]])
	f.progress(id, 1, 0, join.Completed)
}

// D-25, D-31: a message that is being attached is not cleaned up, and one that
// is being cleaned up cannot be attached any more.
func TestPurgeAndAttach(t *testing.T) { onPostgres(t, testPurgeAndAttach) }

func testPurgeAndAttach(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(2), f.enqueue("step", 2)
	owner, items := f.claim(2)
	f.ack(owner, items[msgs[0]])
	f.fail(owner, items[msgs[1]])
	_, err := f.box.Discard(f.ctx(), outbox.FailedFilter{})
	f.check(err)
	f.age()
	tx := f.db.Begin(t)
	f.check(f.AttachTx(f.ctx(), tx, id, msgs...))
	if n, err := f.box.CleanUp(f.ctx()); n != 0 || err != nil {
		t.Fatalf("cleaned up %d messages that are held: %v", n, err)
	}
	f.check(tx.Rollback())
	for i, m := range msgs {
		tx = f.db.Begin(t)
		_, err := tx.ExecContext(f.ctx(), "SELECT "+f.db.Table("outbox_purge")+"(interval '1 hour', 100)")
		f.check(err)
		end := tx.Rollback
		if i == 1 {
			end = tx.Commit
		}
		err = nil
		f.overlap(func() error {
			err = f.Attach(f.ctx(), id, m)
			return nil
		}, end)
		if gone := errors.Is(err, outbox.ErrNotFound); gone != (i == 1) || !gone && err != nil {
			t.Fatalf("attached after the clean-up: %v", err)
		}
	}
	f.progress(id, 1, 0, join.Pending)
	if n, err := f.box.CleanUp(f.ctx()); n != 0 || err != nil {
		t.Fatalf("cleaned up %d messages that a join needs: %v", n, err)
	}
}

// D-34: a wait that is not committed yet when the join ends fires all the same,
// and so does one whose join has ended, but whose wait comes first.
func TestWaitWhileJoinEnds(t *testing.T) { onPostgres(t, testWaitWhileJoinEnds) }

func testWaitWhileJoinEnds(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	owner, items := f.claim(1)
	tx := f.db.Begin(t)
	_, err := f.WaitTx(f.ctx(), tx, id, named(id))
	f.check(err)
	f.ack(owner, items[msgs[0]])
	f.check(tx.Commit())
	f.drain(nil)
	f.progress(id, 1, 0, join.Completed)
	f.firedOnce(id, join.Completed)
}

// D-25, D-34: a join that somebody waits for in an open transaction is not
// cleaned up under the wait.
func TestWaitWhileCleaningUp(t *testing.T) { onPostgres(t, testWaitWhileCleaningUp) }

func testWaitWhileCleaningUp(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	id, msgs := f.members(1)
	owner, items := f.claim(1)
	f.ack(owner, items[msgs[0]])
	f.age()
	tx := f.db.Begin(t)
	_, err := f.WaitTx(f.ctx(), tx, id, named(id))
	f.check(err)
	cleaned := make(chan error, 1)
	go func() {
		_, err := f.CleanUp(f.ctx())
		cleaned <- err
	}()
	dbtest.Until(t, "the clean-up waits for the transaction, or is done", func() bool { return f.waiting() > 0 || len(cleaned) > 0 })
	f.check(tx.Commit())
	f.check(<-cleaned)
	f.drain(nil)
	f.firedOnce(id, join.Completed)
}

// watched is a database of which a test sees, and may hold up, every transaction.
type watched struct {
	engine.DB
	do func(calls []*engine.Call, forward func() error) error
}

func (w *watched) Do(ctx context.Context, calls ...*engine.Call) error {
	return w.do(calls, func() error { return w.DB.Do(ctx, calls...) })
}

// asks says whether one of the calls is for an operation.
func asks(calls []*engine.Call, op string) bool {
	return slices.ContainsFunc(calls, func(c *engine.Call) bool { return c.Name() == op })
}

// D-39: what a worker has acked and what it failed are settled in one
// transaction, and that takes no lock on a join before it has those on all
// messages, and then takes them by id: while it waits for the first join the
// second is still free.
func TestExchangeLocksJoinsLast(t *testing.T) { onPostgres(t, testExchangeLocksJoinsLast) }

func testExchangeLocksJoinsLast(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, failing := range []int{0, 1} { // a member of the first join, or of the second
		for try := 0; !f.exchange(failing); try++ {
			if try > 50 {
				t.Fatal("acks and failures never went together")
			}
		}
	}
}

// exchange has a loop fail a member of one join and ack one of another. It
// returns whether it did so in one transaction.
func (f *fixture) exchange(failing int) (together bool) {
	f.t.Helper()
	ids := []join.ID{uuid.New(), uuid.New()}
	slices.SortFunc(ids, func(a, b join.ID) int { return strings.Compare(a.String(), b.String()) })
	msgs := f.enqueue("step", 2)
	for i, id := range ids {
		_, err := f.Start(f.ctx(), join.Spec{ID: id, ExpectedSteps: 1})
		f.check(err)
		f.check(f.Attach(f.ctx(), id, msgs[i]))
	}
	tx := f.db.Begin(f.t)
	defer tx.Rollback()
	_, err := tx.ExecContext(f.ctx(), "SELECT FROM "+f.db.Table("outbox_join")+" WHERE join_id = $1 FOR UPDATE", ids[0])
	f.check(err)

	var both atomic.Bool
	box := parts.NewOutbox(&watched{f.db.DB, func(calls []*engine.Call, forward func() error) error {
		if asks(calls, "outbox/ack") && asks(calls, "outbox/fail") {
			both.Store(true)
		}
		return forward()
	}}, worker.Options{StopWhenEmpty: true, Logger: quiet()})
	var in sync.WaitGroup
	in.Add(2)
	box.Handle("step", func(ctx context.Context, m *outbox.Message) error {
		in.Done()
		in.Wait()
		if m.ID == msgs[failing] {
			return failForGood(ctx, m)
		}
		return nil
	})
	ended := make(chan error, 1)
	go func() { ended <- box.Run(f.ctx()) }()
	dbtest.Until(f.t, "the exchange waits for a lock", func() bool { return f.waiting() > 0 })
	if both.Load() {
		other := f.db.Begin(f.t)
		if _, err := other.ExecContext(f.ctx(), "SELECT FROM "+f.db.Table("outbox_join")+" WHERE join_id = $1 FOR UPDATE NOWAIT", ids[1]); err != nil {
			f.t.Errorf("the second join is locked before the first: %v", err)
		}
		f.check(other.Rollback())
	}
	f.check(tx.Commit())
	f.check(<-ended)
	for i, id := range ids {
		if i == failing {
			f.progress(id, 0, 1, join.Failed)
		} else {
			f.progress(id, 1, 0, join.Completed)
		}
	}
	return both.Load()
}

// D-36, D-39: of two joins that share a step one is cancelled while the step's
// ack waits for it: the other counts the step, that one does not.
func TestOneOfTwoJoinsEnds(t *testing.T) { eachAndRepeatableRead(t, testOneOfTwoJoinsEnds) }

func testOneOfTwoJoinsEnds(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	a, b, msgs := f.start(2), f.start(2), f.enqueue("step", 2)
	f.check(f.Attach(f.ctx(), a, msgs...))
	f.check(f.Attach(f.ctx(), b, msgs...))
	owner, items := f.claim(2)
	tx := f.db.Begin(t)
	defer tx.Rollback()
	_, err := f.CancelTx(f.ctx(), tx, a)
	f.check(err)
	f.overlap(func() error {
		_, err := f.box.WorkQueue("").Ack(f.ctx(), owner, items[msgs[0]], items[msgs[1]])
		return err
	}, tx.Commit)
	f.progress(a, 0, 0, join.Cancelled)
	f.progress(b, 2, 0, join.Completed)
}
