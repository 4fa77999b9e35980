package outbox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// retrying leaves n messages of a topic of which an attempt failed, with an hour until the next.
func (f *fixture) retrying(n int, topic, text string) (ids []outbox.Position) {
	f.t.Helper()
	for range n {
		ids = append(ids, f.enqueue(outbox.Message{Topic: topic}))
	}
	owner, msgs := f.claimExactly(n)
	f.touched(int64(n))(f.WorkQueue("").Abandon(f.ctx(), owner, outbox.RetryAfter(time.Hour, errors.New(text)), positions(msgs)...))
	return ids
}

// D-584: a message whose attempt failed and whose next one is planned is retrying: it is counted
// and listed apart from those that were scheduled and from those that are due.
func TestRetrying(t *testing.T) { dbtest.Each(t, testRetrying) }

func testRetrying(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ids := f.retrying(2, "t", "boom")
	again := f.retrying(1, "t", "boom")[0]
	later := f.enqueue(outbox.Message{Due: time.Now().Add(time.Hour)})
	f.touched(1)(f.Reschedule(f.ctx(), time.Time{}, again)) // due now, though an attempt failed
	due := f.enqueue(outbox.Message{})
	f.listed(outbox.ListOptions{Status: outbox.Retrying}, ids[1], ids[0])
	f.listed(outbox.ListOptions{Status: outbox.Retrying, Topic: "t", Error: "boo", After: at(ids[1])}, ids[0])
	f.listed(outbox.ListOptions{Status: outbox.Retrying, Error: "no"})
	f.listed(outbox.ListOptions{Status: outbox.Scheduled}, later)
	f.listed(outbox.ListOptions{Status: outbox.Ready}, due, again)
	f.counts(outbox.Counts{Ready: 2, Scheduled: 1, Retrying: 2})
}

// D-585: Redrive has messages that are retrying run now, as far as the filter selects them, and
// leaves them their attempts; those that were scheduled are left alone. What it does is audited.
func TestRedriveRetrying(t *testing.T) { dbtest.Each(t, testRedriveRetrying) }

func testRedriveRetrying(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	failed := f.fail(1)[0]
	a, b := f.retrying(3, "a", "no route"), f.retrying(2, "b", "busy")
	later := f.enqueue(outbox.Message{Due: time.Now().Add(time.Hour)})
	f.age(time.Hour, b[0])
	now := time.Now()
	for _, c := range []struct {
		filter outbox.FailedFilter
		want   int64
	}{
		{outbox.FailedFilter{}, 6}, {outbox.FailedFilter{Topic: "a"}, 3}, {outbox.FailedFilter{Error: "rout"}, 3}, {outbox.FailedFilter{Queue: "other"}, 0}, {outbox.FailedFilter{Limit: 3}, 3},
		{outbox.FailedFilter{Topic: "b", Since: now.Add(-time.Minute)}, 1}, {outbox.FailedFilter{Topic: "b", Before: now.Add(-time.Minute)}, 1}, {outbox.FailedFilter{Rate: 5}, 1},
		{outbox.FailedFilter{IDs: []outbox.Position{}}, 0}, {outbox.FailedFilter{IDs: []outbox.Position{later}}, 0}, {outbox.FailedFilter{IDs: []outbox.Position{a[1], failed, a[1], 1 << 40, b[0]}, Topic: "a"}, 1},
	} {
		if n, err := f.CountRedrive(f.ctx(), c.filter); err != nil || n != c.want {
			t.Errorf("%+v selects %d, want %d, %v", c.filter, n, c.want, err)
		}
	}
	f.touched(2)(f.Redrive(f.ctx(), outbox.FailedFilter{Limit: 2})) // the failed one, and the oldest of the others
	f.counts(outbox.Counts{Ready: 2, Scheduled: 1, Retrying: 4})
	if i := f.status(a[0], outbox.Ready); i.RetryCount != 1 || i.LastError != "no route" {
		t.Errorf("%+v", i)
	}
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{b[1], later}}))
	f.touched(2)(f.Redrive(f.ctx(), outbox.FailedFilter{Topic: "a"}))
	f.counts(outbox.Counts{Ready: 5, Scheduled: 1, Retrying: 1})
	f.touched(0)(f.Discard(f.ctx(), outbox.FailedFilter{})) // a message that has attempts left is not given up
	if _, msgs := f.claimExactly(5); !slices.Contains(positions(msgs), b[1]) || slices.Contains(positions(msgs), b[0]) {
		t.Errorf("claimed %v", positions(msgs))
	}
	var said []string
	for _, act := range f.trail() {
		said = append(said, act.Action+" "+act.Target)
	}
	if got, want := strings.Join(said, "; "), "redrive failed messages; reschedule retrying messages; reschedule 2 retrying messages; reschedule retrying messages of topic a"; got != want {
		t.Errorf("the trail has %s", got)
	}
	f.db.CheckPlaces(t)
}
