package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-26: what a filter chooses is found behind any number of failed messages that it
// does not choose, and nothing is looked at twice.
func TestFailedFarBehind(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		db := e.Open(t)
		o := outbox.New(db, outbox.Options{})
		o.LookAt(7)
		msgs := make([]outbox.Message, 60)
		for i := range msgs {
			msgs[i].Topic = "many"
			if i%20 == 19 || i == 58 { // 19, 39, 58, 59
				msgs[i].Topic = "few"
			}
		}
		if _, err := o.EnqueueBatch(t.Context(), msgs); err != nil {
			t.Fatal(err)
		}
		owner := outbox.NewOwnerToken()
		claimed, err := o.Claim(t.Context(), owner, time.Minute, len(msgs))
		if err != nil || len(claimed) != len(msgs) {
			t.Fatal(len(claimed), err)
		}
		for _, m := range claimed {
			if _, err := o.Fail(t.Context(), owner, errors.New("no"), m.WorkItemID); err != nil {
				t.Fatal(err)
			}
		}
		does := func(want int64, do func(context.Context, outbox.FailedFilter) (int64, error), f outbox.FailedFilter) {
			t.Helper()
			if n, err := do(t.Context(), f); n != want || err != nil {
				t.Fatalf("%+v: %d, want %d: %v", f, n, want, err)
			}
		}
		does(60, o.CountFailed, outbox.FailedFilter{})
		does(4, o.CountFailed, outbox.FailedFilter{Topic: "few"})
		does(2, o.CountFailed, outbox.FailedFilter{Topic: "few", Limit: 2})
		does(0, o.Redrive, outbox.FailedFilter{Topic: "none"})
		does(1, o.Redrive, outbox.FailedFilter{Topic: "few", Limit: 1})
		does(3, o.Discard, outbox.FailedFilter{Topic: "few", Rate: 1000})
		does(0, o.Redrive, outbox.FailedFilter{Topic: "few"})
		does(56, o.Redrive, outbox.FailedFilter{})
		entries, err := audit.Open(db).List(t.Context(), audit.Filter{})
		if err != nil || len(entries) != 3 || entries[0].Count != 56 || entries[1].Count != 3 || entries[2].Count != 1 {
			t.Fatalf("%+v, %v", entries, err)
		}
		db.CheckPlaces(t)
	})
}
