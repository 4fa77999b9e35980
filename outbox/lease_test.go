package outbox_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// short is a lease that a test waits for, and yet longer than a busy machine
// takes between two statements.
const short = 3 * time.Second

func (f *fixture) claimShort(n int) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.WorkQueue("").Claim(f.ctx(), owner, short, n)
	if err != nil || len(msgs) != n {
		f.t.Fatalf("claimed %d of %d: %v", len(msgs), n, err)
	}
	return owner, msgs
}

// OBX-049, OBX-050, OBX-051, D-12
func TestReapExpired(t *testing.T) { dbtest.Each(t, testReapExpired) }

func testReapExpired(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(4)
	f.claimExactly(1) // which stays claimed
	f.touched(0)(f.WorkQueue("").ReapExpired(f.ctx()))
	_, msgs := f.claimShort(3)
	f.db.Pass(short + 20*time.Millisecond)
	f.touched(3)(f.WorkQueue("").ReapExpired(f.ctx()))
	for _, m := range msgs {
		got := f.status(m.Position, outbox.Ready)
		if got.RetryCount != 0 || got.Owner != (outbox.OwnerToken{}) || !got.LockedUntil.IsZero() || got.LastError != "" {
			t.Fatalf("reaped message is %+v", got)
		}
	}
	f.claimExactly(3)
}

// OBX-019, D-11, D-12
func TestClaimTakesExpired(t *testing.T) { dbtest.Each(t, testClaimTakesExpired) }

func testClaimTakesExpired(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(2)
	_, first := f.claimShort(2)
	f.db.Pass(short + 20*time.Millisecond)
	if _, again := f.claimExactly(2); !slices.Equal(positions(first), positions(again)) || again[0].RetryCount != 0 {
		t.Fatalf("claimed %v, then %v", positions(first), positions(again))
	}
}

// D-13
func TestAckAfterExpiry(t *testing.T) { dbtest.Each(t, testAckAfterExpiry) }

func testAckAfterExpiry(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(1)
	owner, msgs := f.claimShort(1)
	f.db.Pass(short + 20*time.Millisecond)
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
	f.counts(outbox.Counts{Done: 1})
}

// D-18
func TestExtend(t *testing.T) { dbtest.Each(t, testExtend) }

func testExtend(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(3)
	owner, msgs := f.claimShort(3)
	f.touched(3)(f.Extend(f.ctx(), owner, lease, positions(msgs)...))
	f.db.Pass(short + 20*time.Millisecond)
	f.touched(0)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.touched(3)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
}

// D-18: only what was asked for lives longer.
func TestExtendInParts(t *testing.T) { dbtest.Each(t, testExtendInParts) }

func testExtendInParts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(5)
	owner, msgs := f.claimShort(5)
	ids := positions(msgs)
	f.touched(2)(f.Extend(f.ctx(), owner, lease, ids[1], ids[3]))
	f.db.Pass(short + 20*time.Millisecond)
	f.touched(3)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.touched(2)(f.WorkQueue("").Ack(f.ctx(), owner, ids...))
	f.counts(outbox.Counts{Ready: 3, Done: 2})
}

// OBX-052
func TestReapLeavesOthers(t *testing.T) { dbtest.Each(t, testReapLeavesOthers) }

func testReapLeavesOthers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(4)
	owner, msgs := f.claimShort(4)
	ids := positions(msgs)
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[0]))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, nil, ids[1]))
	f.touched(1)(f.Extend(f.ctx(), owner, lease, ids[2]))
	f.db.Pass(short + 20*time.Millisecond)
	f.touched(1)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.counts(outbox.Counts{Done: 1, Failed: 1, InProgress: 1, Ready: 1})
}

// OBX-051
func TestReapMany(t *testing.T) { dbtest.Each(t, testReapMany) }

func testReapMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for range 6 { // claims that do not merge
		f.enqueueBatch(200)
		f.claimExactly(200)
	}
	f.exec("UPDATE " + f.db.Table("outbox_claim") + " SET locked_until = " + f.db.Ago(time.Second)) // all at once: a claim takes what ran out before it
	f.touched(1200)(f.WorkQueue("").ReapExpired(f.ctx()))
	f.counts(outbox.Counts{Ready: 1200})
}

// OBX-099, OBX-100: one owner settling and extending from many goroutines at
// once stays exact.
func TestSettleConcurrently(t *testing.T) { dbtest.Each(t, testSettleConcurrently) }

func testSettleConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(120)
	owner, msgs := f.claimExactly(120)
	ids := positions(msgs)
	var mu sync.Mutex
	var acked, failed int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := g; i < len(ids); i += 4 { // every id is settled by two goroutines
				n, err := f.settleOne(owner, ids[i], g)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if g%2 == 0 {
					acked += n
				} else {
					failed += n
				}
				mu.Unlock()
				if _, err := f.Extend(f.ctx(), owner, lease, ids...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if acked+failed != 120 {
		t.Fatalf("settled %d messages of 120", acked+failed)
	}
	f.counts(outbox.Counts{Done: acked, Failed: failed})
}

func (f *fixture) settleOne(owner outbox.OwnerToken, id outbox.Position, g int) (int64, error) {
	if g%2 == 0 {
		return f.WorkQueue("").Ack(f.ctx(), owner, id)
	}
	return f.WorkQueue("").Fail(f.ctx(), owner, nil, id)
}

// D-329: ids whose messages were deleted from the table by hand are claimed once: when that lease expires nothing
// of them is left, and what is left of their run is claimed as it is after any expired lease.
func TestExpiredClaimOfDeletedMessages(t *testing.T) {
	dbtest.Each(t, testExpiredClaimOfDeletedMessages)
}

func testExpiredClaimOfDeletedMessages(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	at := f.enqueueN(10)
	f.exec(fmt.Sprintf("DELETE FROM %s WHERE id IN (%d, %d, %d)", f.db.Table("outbox_message"), at[0], at[4], at[5]))
	expire := func() {
		t.Helper()
		if _, err := f.WorkQueue("").Claim(f.ctx(), outbox.NewOwnerToken(), short, 10); err != nil {
			t.Fatal(err)
		}
		f.db.Pass(2 * short)
	}
	expire()
	owner, msgs := f.claimExactly(7)
	f.db.CheckPlaces(t)
	if n, err := f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...); err != nil || n != 7 {
		t.Fatal(n, err)
	}
	f.db.CheckPlaces(t)

	f.enqueueN(3) // none is left
	f.exec(fmt.Sprintf("DELETE FROM %s WHERE id > %d", f.db.Table("outbox_message"), at[9]))
	expire()
	f.claimExactly(0)
	f.db.CheckPlaces(t)
}
