package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// failAs fails a new message of a topic with an error.
func (f *fixture) failAs(topic, text string) outbox.Position {
	f.t.Helper()
	f.enqueue(outbox.Message{Topic: topic})
	owner, msgs := f.claimExactly(1)
	f.touched(1)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New(text), positions(msgs)...))
	return msgs[0].Position
}

// grouped insists on the groups, one a line.
func (f *fixture) grouped(filter outbox.FailedFilter, want ...string) {
	f.t.Helper()
	groups, err := f.Failures(f.ctx(), filter)
	if err != nil {
		f.t.Fatal(err)
	}
	var all []string
	for _, g := range groups {
		all = append(all, fmt.Sprintf("%s: %s: %d, %d: %s", g.Topic, g.Fingerprint, g.Count, g.Position, g.Error))
	}
	if !slices.Equal(all, want) {
		f.t.Fatalf("%q, not %q", all, want)
	}
}

// D-591: failed messages are grouped by topic and fingerprint, however many there are, and a group is
// listed, redriven and discarded by its fingerprint.
func TestFailures(t *testing.T) { dbtest.Each(t, testFailures) }

func testFailures(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.LookAt(2)
	began := time.Now().Add(-time.Minute)
	first := f.failAs("mail", "dial tcp 10.0.0.1:25: i/o timeout")
	last := f.failAs("mail", "dial tcp 10.0.0.27:25: i/o timeout")
	f.failAs("pay", "order 17: card declined")
	pay := f.failAs("pay", "order 4711: card declined")
	last2 := f.failAs("mail", "dial tcp [::1]:25: i/o timeout")
	timeout, declined := "dial tcp #: i/o timeout", "order #: card declined"
	want := []string{
		fmt.Sprintf("mail: %s: 3, %d: dial tcp [::1]:25: i/o timeout", timeout, last2),
		fmt.Sprintf("pay: %s: 2, %d: order 4711: card declined", declined, pay),
	}
	f.grouped(outbox.FailedFilter{}, want...)
	f.grouped(outbox.FailedFilter{Topic: "pay"}, want[1:]...)
	f.grouped(outbox.FailedFilter{Fingerprint: timeout}, want[:1]...)
	f.grouped(outbox.FailedFilter{Queue: "other"})
	f.grouped(outbox.FailedFilter{Error: "declined", Since: began}, want[1:]...)
	f.grouped(outbox.FailedFilter{Before: began})

	found, _, err := f.Operator(access.Key{}).ListSome(f.ctx(), outbox.ListOptions{Status: outbox.Failed, Fingerprint: timeout}, 0, 10)
	if err != nil || len(found) != 3 || found[2].Position != first || found[1].Position != last {
		t.Fatalf("%+v, %v", found, err)
	}
	f.touched(3)(f.Redrive(f.ctx(), outbox.FailedFilter{Fingerprint: timeout}))
	f.touched(2)(f.Discard(f.ctx(), outbox.FailedFilter{Topic: "pay", Fingerprint: declined}))
	f.counts(outbox.Counts{Ready: 3, Discarded: 2})
}

// D-591: a stored act keeps the fingerprint that it selects by; when a group was first and last seen failing
// is when its messages failed; the last error counts.
func TestFailuresOverTime(t *testing.T) { dbtest.Each(t, testFailuresOverTime) }

func testFailuresOverTime(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.failAs("mail", "attempt 1: timed out")
	f.exec(fmt.Sprintf("UPDATE %s SET updated_at = %s", f.db.Table("outbox_exception"), f.db.Ago(time.Hour)))
	f.failAs("mail", "attempt 2: timed out")
	f.failAs("mail", "refused")
	groups, err := f.Failures(f.ctx(), outbox.FailedFilter{})
	if err != nil || len(groups) != 2 || groups[0].Count != 2 || groups[0].LastAt.Sub(groups[0].FirstAt) < 59*time.Minute {
		t.Fatalf("%+v, %v", groups, err)
	}
	b := f.started(f.Outbox.Redrive, outbox.FailedFilter{Fingerprint: groups[0].Fingerprint, Rate: 10})
	if b.Total != 2 || b.Filter.Fingerprint != "attempt #: timed out" || b.Target != `failed messages with errors like "attempt #: timed out"` {
		t.Fatalf("%+v", b)
	}
	works(t, f.Outbox)
	f.counts(outbox.Counts{Ready: 2, Failed: 1})
	owner, msgs := f.claimExactly(2)
	f.touched(2)(f.WorkQueue("").Fail(f.ctx(), owner, errors.New("refused"), positions(msgs)...))
	f.grouped(outbox.FailedFilter{}, fmt.Sprintf("mail: refused: 3, %d: refused", msgs[1].Position+1))
	if id >= msgs[1].Position {
		t.Fatal(id)
	}
}

// D-591: an error that another program recorded is grouped by its text, and found by what that group is called.
func TestFailuresOfOthers(t *testing.T) { dbtest.Each(t, testFailuresOfOthers) }

func testFailuresOfOthers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.failAs("mail", "timed out")
	f.exec("UPDATE " + f.db.Table("outbox_exception") + " SET fingerprint = NULL")
	f.failAs("mail", "")
	groups, err := f.Failures(f.ctx(), outbox.FailedFilter{})
	if err != nil || len(groups) != 2 || groups[0].Fingerprint != "" || groups[1].Fingerprint != "timed out" {
		t.Fatalf("%+v, %v", groups, err)
	}
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{Fingerprint: "timed out"}))
}
