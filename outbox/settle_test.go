package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// OBX-027, OBX-028, OBX-029, OBX-030, D-24
func TestAck(t *testing.T) { dbtest.Each(t, testAck) }

func testAck(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{Worker: "worker-7"})
	f.enqueueN(3)
	owner, msgs := f.claimExactly(3)
	f.touched(2)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position, msgs[2].Position))
	for _, i := range []int{0, 2} {
		got := f.status(msgs[i].Position, outbox.Done)
		if got.Status != outbox.Done || got.ProcessedBy != "worker-7" || got.ProcessedAt.Before(got.CreatedAt) || !got.LockedUntil.IsZero() {
			t.Fatalf("acked message is %+v", got)
		}
	}
	f.status(msgs[1].Position, outbox.InProgress)
	f.counts(outbox.Counts{InProgress: 1, Done: 2})
}

// OBX-030, OBX-032: parts of a claim in any order; nothing is lost or doubled.
func TestAckInParts(t *testing.T) { dbtest.Each(t, testAckInParts) }

func testAckInParts(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(20)
	owner, msgs := f.claimExactly(20)
	ids := positions(msgs)
	for _, part := range [][]int{{10}, {3, 4, 5}, {0, 19}, {1, 2, 6, 7}, {8, 9, 11, 12}} {
		var some []outbox.Position
		for _, i := range part {
			some = append(some, ids[i])
		}
		f.touched(int64(len(part)))(f.WorkQueue("").Ack(f.ctx(), owner, some...))
	}
	f.counts(outbox.Counts{Done: 14, InProgress: 6})
	f.touched(6)(f.WorkQueue("").Ack(f.ctx(), owner, ids...))
	f.counts(outbox.Counts{Done: 20})
}

// OBX-035, OBX-036, OBX-037, OBX-040, OBX-041, OBX-061, OBX-062, D-14, D-16
func TestAbandon(t *testing.T) { dbtest.Each(t, testAbandon) }

func testAbandon(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{})
	owner, _ := f.claimExactly(1)
	before := f.get(id)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, errors.New("smtp down"), id))
	got := f.status(id, outbox.Ready)
	delay := got.NextAttemptAt.Sub(before.CreatedAt)
	if got.RetryCount != 1 || !got.LockedUntil.IsZero() || got.Owner != (outbox.OwnerToken{}) || got.LastError != "smtp down" || delay < time.Second || delay > time.Minute {
		t.Fatalf("abandoned message is %+v, delay %v", got, delay)
	}
	f.db.Pass(1100 * time.Millisecond)
	if _, msgs := f.claimExactly(1); msgs[0].RetryCount != 1 {
		t.Fatalf("delivered with retry count %d", msgs[0].RetryCount)
	}
}

// D-16
func TestAbandonAfter(t *testing.T) { dbtest.Each(t, testAbandonAfter) }

func testAbandonAfter(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{})
	for attempt, d := range []time.Duration{0, -time.Second, 0} {
		owner, _ := f.claimExactly(1)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(d, errors.New("busy")), id))
		if got := f.get(id); got.RetryCount != attempt+1 || got.LastError != "busy" {
			t.Fatalf("after %d attempts: %+v", attempt+1, got)
		}
	}
	owner, _ := f.claimExactly(1)
	var before time.Time
	f.clock(&before)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, fmt.Errorf("shop: %w", outbox.RetryAfter(time.Hour, errors.New("later"))), id))
	f.counts(outbox.Counts{Ready: 1, Retrying: 1}) // the clock is ready
	if got := f.get(id); got.LastError != "shop: later" || got.NextAttemptAt.Before(before.Add(time.Hour)) {
		t.Fatalf("at %v: %+v", before, got)
	}
}

// D-16: without a cause there is no error.
func TestAbandonWithoutCause(t *testing.T) { dbtest.Each(t, testAbandonWithoutCause) }

func testAbandonWithoutCause(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{})
	owner, _ := f.claimExactly(1)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, nil, id))
	if got := f.get(id); got.RetryCount != 1 || got.LastError != "" {
		t.Fatalf("abandoned without a cause: %+v", got)
	}
}

// OBX-037, OBX-062, D-14, D-560
func TestAbandonBackoff(t *testing.T) { dbtest.Each(t, testAbandonBackoff) }

func testAbandonBackoff(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for retries := range 9 {
		id := f.enqueue(outbox.Message{})
		for range retries {
			owner, _ := f.claimExactly(1)
			f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(0, nil), id))
		}
		owner, _ := f.claimExactly(1)
		var before, after time.Time
		f.clock(&before)
		f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, nil, id))
		f.clock(&after)
		want, at := engine.Backoff(retries+1), f.get(id).NextAttemptAt
		if at.Before(before.Add(want-time.Millisecond)) || at.After(after.Add(want+time.Millisecond)) {
			t.Fatalf("after %d retries the delay is %v to %v, want %v", retries, at.Sub(after), at.Sub(before), want)
		}
		_, err := f.Reschedule(f.ctx(), after.Add(time.Hour), id) // out of the way of the next
		if err != nil {
			t.Fatal(err)
		}
	}
}

// clock reads the database's clock off a new message.
func (f *fixture) clock(now *time.Time) {
	f.t.Helper()
	id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "clock", Queue: "clock"})
	if err != nil {
		f.t.Fatal(err)
	}
	*now = f.find(id).CreatedAt
}

// OBX-042, OBX-043, OBX-048
func TestFail(t *testing.T) { dbtest.Each(t, testFail) }

func testFail(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(3)
	owner, msgs := f.claimExactly(3)
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("no such customer"), msgs[1].Position))
	got := f.status(msgs[1].Position, outbox.Failed)
	if got.LastError != "no such customer" || !got.LockedUntil.IsZero() || got.Status == outbox.Done {
		t.Fatalf("failed message is %+v", got)
	}
	f.touched(0)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[1].Position))
	f.counts(outbox.Counts{InProgress: 2, Failed: 1})
}

// D-16
func TestRelease(t *testing.T) { dbtest.Each(t, testRelease) }

func testRelease(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(3)
	owner, _ := f.claimExactly(3)
	f.touched(2)(f.Release(f.ctx(), owner, ids[0], ids[2]))
	if got := f.status(ids[0], outbox.Ready); got.RetryCount != 0 {
		t.Fatalf("releasing counted an attempt: %+v", got)
	}
	if _, msgs := f.claimExactly(2); !slices.Equal(positions(msgs), []outbox.Position{ids[0], ids[2]}) {
		t.Fatalf("claimed %v", positions(msgs))
	}
}

// OBX-030, OBX-031, OBX-038, OBX-039, OBX-044, OBX-045, D-13, D-23
func TestSettleForeign(t *testing.T) { dbtest.Each(t, testSettleForeign) }

func testSettleForeign(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	mine, theirs := f.enqueueN(2), []outbox.Position(nil)
	owner, _ := f.claimExactly(2)
	theirs = f.enqueueN(2)
	f.claimExactly(2)
	stranger := outbox.NewOwnerToken()
	all := append(slices.Clone(mine), theirs...)
	f.touched(0)(f.WorkQueue("").Ack(f.ctx(), stranger, all...))
	f.touched(0)(f.WorkQueue("").Abandon(f.ctx(), stranger, nil, all...))
	f.touched(0)(f.WorkQueue("").Fail(f.ctx(), stranger, nil, all...))
	f.touched(0)(f.Release(f.ctx(), stranger, all...))
	f.touched(0)(f.Extend(f.ctx(), stranger, lease, all...))
	f.counts(outbox.Counts{InProgress: 4})
	f.touched(2)(f.WorkQueue("").Ack(f.ctx(), owner, all...))
	f.counts(outbox.Counts{InProgress: 2, Done: 2})
}

// OBX-031, OBX-039, OBX-045, D-23
func TestSettleOddIDs(t *testing.T) { dbtest.Each(t, testSettleOddIDs) }

func testSettleOddIDs(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(4)
	owner, _ := f.claimExactly(4)
	f.touched(0)(f.WorkQueue("").Ack(f.ctx(), owner))
	f.touched(0)(f.WorkQueue("").Ack(f.ctx(), owner, 0, -5, 1<<60))
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, ids[0], ids[0], ids[0], 1<<60))
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, nil), ids[1], ids[0], ids[1]))
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, nil, ids[2], ids[1], 7, ids[2]))
	f.touched(1)(f.Extend(f.ctx(), owner, lease, ids...))
	f.touched(1)(f.Release(f.ctx(), owner, ids...))
	f.counts(outbox.Counts{Done: 1, Retrying: 1, Failed: 1, Ready: 1})
}

// D-13: the same process with a former token is a stranger.
func TestSettleStaleOwner(t *testing.T) { dbtest.Each(t, testSettleStaleOwner) }

func testSettleStaleOwner(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.enqueue(outbox.Message{})
	stale := outbox.NewOwnerToken()
	if msgs, err := f.WorkQueue("").Claim(f.ctx(), stale, short, 1); err != nil || len(msgs) != 1 {
		t.Fatal(len(msgs), err)
	}
	f.db.Pass(short + 20*time.Millisecond)
	owner, _ := f.claimExactly(1)
	f.touched(0)(f.WorkQueue("").Ack(f.ctx(), stale, id))
	f.touched(0)(f.WorkQueue("").Abandon(f.ctx(), stale, nil, id))
	f.touched(0)(f.WorkQueue("").Fail(f.ctx(), stale, nil, id))
	f.touched(0)(f.Release(f.ctx(), stale, id))
	f.touched(0)(f.Extend(f.ctx(), stale, lease, id))
	if got := f.status(id, outbox.InProgress); got.Owner != owner {
		t.Fatalf("the stale owner changed it: %+v", got)
	}
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, id))
}

// D-7
func TestSettleLongError(t *testing.T) { dbtest.Each(t, testSettleLongError) }

func testSettleLongError(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.enqueueN(2)
	owner, _ := f.claimExactly(2)
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New(strings.Repeat("日", 2000)), ids[0]))
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, errors.New("bad \xff\x00 bytes"), ids[1]))
	if got := f.get(ids[0]).LastError; len(got) > 2048 || len(got) < 2040 || !utf8.ValidString(got) {
		t.Fatalf("kept %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	if got := f.get(ids[1]).LastError; !utf8.ValidString(got) || !strings.HasPrefix(got, "bad ") {
		t.Fatalf("kept %q", got)
	}
}

// D-11
func TestRetryKeepsDueTime(t *testing.T) { dbtest.Each(t, testRetryKeepsDueTime) }

func testRetryKeepsDueTime(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	due := time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()
	id := f.enqueue(outbox.Message{Due: due})
	owner, _ := f.claimExactly(1)
	f.touched(1)(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, nil), id))
	if got := f.get(id); !got.Due.Equal(due) || !got.NextAttemptAt.After(due.Add(time.Hour)) {
		t.Fatalf("due %v, next attempt %v", got.Due, got.NextAttemptAt)
	}
}

func TestSettleBadArguments(t *testing.T) { dbtest.Each(t, testSettleBadArguments) }

func testSettleBadArguments(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.Extend(f.ctx(), outbox.NewOwnerToken(), 0, 1); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("no lease: %v", err)
	}
}
