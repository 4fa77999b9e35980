package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-26, OBX-036: the retries of neighbours stay apart though they are claimed
// together, and a redriven message begins at none, also once it was handled.
func TestRetryCountsOfNeighboursAndOfRedrivenMessages(t *testing.T) {
	for name, open := range map[string]func(testing.TB) dbtest.Database{"sqlite": dbtest.OpenSQLite, "postgres": dbtest.OpenPostgres} {
		t.Run(name, func(t *testing.T) {
			o := parts.NewOutbox(open(t).DB, worker.Options{})
			if _, err := o.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}}); err != nil {
				t.Fatal(err)
			}
			owner, all := claimThree(t, o)
			touched(t, 1)(o.WorkQueue("").Abandon(t.Context(), owner, outbox.RetryAfter(0, errors.New("once")), all[1]))
			touched(t, 2)(o.Release(t.Context(), owner, all[0], all[2]))
			owner, all = claimThree(t, o, 0, 1, 0)
			touched(t, 3)(o.WorkQueue("").Abandon(t.Context(), owner, outbox.RetryAfter(0, errors.New("again")), all...))
			owner, all = claimThree(t, o, 1, 2, 1)
			touched(t, 3)(o.WorkQueue("").Fail(t.Context(), owner, nil, all...))
			touched(t, 3)(changed(o.Redrive)(t.Context(), outbox.FailedFilter{}))
			owner, all = claimThree(t, o, 0, 0, 0)
			touched(t, 3)(o.WorkQueue("").Ack(t.Context(), owner, all...))
			for _, id := range all {
				if i, err := o.GetByPosition(t.Context(), id); err != nil || i.RetryCount != 0 || i.Redrives != 1 || i.LastError != "again" {
					t.Errorf("%+v, %v, want no retries and one redrive", i, err)
				}
			}
		})
	}
}

// claimThree claims three messages and checks how often they were tried, in
// order of their ids.
func claimThree(t *testing.T, o *parts.Outbox, retries ...int) (outbox.OwnerToken, []outbox.Position) {
	t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := o.WorkQueue("").Claim(t.Context(), owner, time.Minute, 10)
	if err != nil || len(msgs) != 3 {
		t.Fatalf("claimed %d, %v", len(msgs), err)
	}
	lowest := min(msgs[0].Position, msgs[1].Position, msgs[2].Position)
	ids := make([]outbox.Position, 3)
	for _, m := range msgs {
		ids[m.Position-lowest] = m.Position
		if len(retries) > 0 && m.RetryCount != retries[m.Position-lowest] {
			t.Errorf("message %d was tried %d times, want %d", m.Position, m.RetryCount, retries[m.Position-lowest])
		}
	}
	return owner, ids
}

func touched(t *testing.T, want int64) func(int64, error) {
	t.Helper()
	return func(n int64, err error) {
		t.Helper()
		if err != nil || n != want {
			t.Errorf("touched %d, %v, want %d", n, err, want)
		}
	}
}
