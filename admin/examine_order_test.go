package admin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// inLine enqueues messages with the ordering key k, and one of another key, and handles the first
// of each.
func (f *examineFixture) inLine(names ...string) (at []int64) {
	f.t.Helper()
	for _, name := range append([]string{"first"}, names...) {
		id, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte(name), OrderingKey: "k"})
		f.check(err)
		m, err := f.box.Get(f.ctx(), id)
		f.check(err)
		at = append(at, int64(m.Position))
	}
	_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: "t", OrderingKey: "other"})
	f.check(err)
	owner, msgs := f.claimAll()
	if len(msgs) != 2 {
		f.t.Fatalf("claimed %d", len(msgs))
	}
	f.ack(owner, msgs)
	return at[1:]
}

func (f *examineFixture) claimAll() (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.box.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 100)
	f.check(err)
	return owner, msgs
}

func (f *examineFixture) ack(owner outbox.OwnerToken, msgs []*outbox.Message) {
	f.t.Helper()
	for _, m := range msgs {
		_, err := f.box.WorkQueue("").Ack(f.ctx(), owner, m.Position)
		f.check(err)
	}
}

// inOrder wants messages to come one after the other, and nothing behind them.
func (f *examineFixture) inOrder(want ...string) {
	f.t.Helper()
	var got []string
	for {
		owner, msgs := f.claimAll()
		if len(msgs) == 0 {
			break
		}
		if len(msgs) > 1 {
			f.t.Fatalf("%d of a key at once", len(msgs))
		}
		got = append(got, string(msgs[0].Payload))
		f.ack(owner, msgs)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%q came, want %q", got, want)
	}
}

// D-211: the doctor finds a key of which nothing can be claimed although nothing holds it, and lets
// it go on in order.
func TestExamineOrder(t *testing.T) {
	const stuck, stray = `messages of 1 ordering keys wait, and none of these keys can be claimed: "k"`, "1 messages wait behind others of their ordering key, and are not in line: positions "
	for name, c := range map[string]struct {
		tamper   func(f *examineFixture, at []int64)
		evidence string
		left     []string
	}{
		"the head is not marked": {func(f *examineFixture, at []int64) {
			f.exec("UPDATE {outbox_order} SET head = " + f.db.Bool(false) + " WHERE head = " + f.db.Bool(true))
		}, stuck, []string{"a", "b", "c"}},
		"the head is not marked, and claimed": {func(f *examineFixture, at []int64) {
			owner, msgs := f.claimAll()
			f.exec("UPDATE {outbox_order} SET head = " + f.db.Bool(false) + " WHERE head = " + f.db.Bool(true))
			f.fixed(stuck)
			if _, more := f.claimAll(); len(more) > 0 {
				f.t.Errorf("%s comes beside the first", more[0].Payload)
			}
			f.ack(owner, msgs)
			f.exec("UPDATE {outbox_order} SET head = " + f.db.Bool(false) + " WHERE head = " + f.db.Bool(true))
		}, stuck, []string{"b", "c"}},
		"there is no head": {func(f *examineFixture, at []int64) {
			owner, msgs := f.claimAll()
			f.exec(fmt.Sprintf("DELETE FROM {outbox_order} WHERE id = %d", at[0]))
			f.ack(owner, msgs)
		}, stuck, []string{"b", "c"}},
		"the head is over": {func(f *examineFixture, at []int64) {
			f.elsewhere(at[0], func() { f.ack(f.claimAll()) })
		}, stuck, []string{"b", "c"}},
		"the head is gone": {func(f *examineFixture, at []int64) {
			f.exec(fmt.Sprintf("DELETE FROM {outbox_ready} WHERE lo = %d", at[0]))
			f.exec(fmt.Sprintf("DELETE FROM {outbox_message} WHERE id = %d", at[0]))
		}, stuck, []string{"b", "c"}},
		"the head waits": {func(f *examineFixture, at []int64) {
			f.exec(fmt.Sprintf("UPDATE {outbox_ready} SET lane = (SELECT id FROM {outbox_lane} WHERE kind = 2) WHERE lo = %d", at[0]))
		}, stuck, []string{"a", "b", "c"}},
		"not in line": {func(f *examineFixture, at []int64) {
			f.exec(fmt.Sprintf("DELETE FROM {outbox_order} WHERE id = %d", at[2]))
		}, stray, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
				f := openExamine(t, e)
				at := f.inLine("a", "b", "c")
				wantOK(t, f.examine(), "order")
				c.tamper(f, at)
				f.fixed(c.evidence)
				f.inOrder(c.left...)
				wantOK(t, f.examine(), "order")
			})
		})
	}
}

// elsewhere has a message out of its line while f runs.
func (f *examineFixture) elsewhere(at int64, run func()) {
	f.t.Helper()
	f.exec(fmt.Sprintf("UPDATE {outbox_order} SET id = %d WHERE id = %d", -at, at))
	run()
	f.exec(fmt.Sprintf("UPDATE {outbox_order} SET id = %d WHERE id = %d", at, -at))
}

// fixed wants Examine to find a fault of lines, to repair it, and to find no more.
func (f *examineFixture) fixed(evidence string) {
	f.t.Helper()
	if found := wantFinding(f.t, f.examine(), "order", health.Problem, evidence, "pawl doctor --fix"); !found.Fixable {
		f.t.Errorf("not fixable: %+v", found)
	}
	f.withoutTrail()
	wantFinding(f.t, f.examine(), "order", health.Problem, evidence, "")
	before := f.noted("lines of ordering keys")
	wantFinding(f.t, f.examine(engine.ExamineOptions{Fix: true, Timeout: time.Minute}), "order", health.Note, "", "")
	wantOK(f.t, f.examine(), "order")
	if n := f.noted("lines of ordering keys") - before; n != 1 {
		f.t.Errorf("%d repairs are noted", n)
	}
}

// D-211: keys that wait for an operator are said, with what helps; the doctor does not let them go.
func TestExamineOrderHeld(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := openExamine(t, e)
		at := f.inLine("a", "b")
		f.box.Handle("t", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) }, outbox.HandlerOptions{Order: outbox.OrderHold})
		ctx, cancel := context.WithCancel(f.ctx())
		ended := make(chan error, 1)
		go func() { ended <- f.box.Run(ctx) }()
		var m *outbox.Info
		dbtest.Until(t, "the first has failed for good", func() bool {
			var err error
			m, err = f.box.GetByPosition(f.ctx(), outbox.Position(at[0]))
			f.check(err)
			return m.Status == outbox.Failed
		})
		cancel()
		f.check(<-ended)
		for _, o := range []engine.ExamineOptions{{}, {Fix: true, Timeout: time.Minute}} {
			found := wantFinding(t, f.examine(o), "order", health.Warning, `1 ordering keys are held by messages that failed for good, "k" the longest, for `, "pawl retry "+m.ID.String()+", or give it up: pawl discard "+m.ID.String())
			if found.Fixable {
				t.Error("fixable")
			}
		}
		f.inOrder()
		_, err := f.box.Discard(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{m.Position}})
		f.check(err)
		wantOK(t, f.examine(), "order")
		f.inOrder("b")
	})
}
