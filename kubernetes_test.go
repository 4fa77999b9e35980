package pawl_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-752: the query that the Helm chart gives KEDA counts what waits and runs in its queues: not what is delayed,
// paused, behind its ordering key, failed or done.
func TestBacklogForScaling(t *testing.T) {
	text, err := os.ReadFile("deploy/helm/pawl/files/backlog.sql")
	must(t, err)
	d := dbtest.OpenPostgres(t)
	p, err := pawl.New(d, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	query := strings.NewReplacer("pawl.", d.Table(""), "('default')", "('default', 'mail')").Replace(string(text))
	want := func(n int, when string) {
		t.Helper()
		var have int
		must(t, d.SQL.QueryRowContext(t.Context(), query).Scan(&have))
		if have != n {
			t.Errorf("%s: %d, want %d", when, have, n)
		}
	}
	want(0, "without messages")

	messages := func(n int, m outbox.Message) []outbox.Message {
		all := make([]outbox.Message, n)
		for i := range all {
			all[i] = m
		}
		return all
	}
	for _, m := range [][]outbox.Message{
		messages(5, outbox.Message{Topic: "t"}),
		messages(2, outbox.Message{Topic: "t", Queue: "mail", Priority: 3}),
		messages(7, outbox.Message{Topic: "t", Queue: "other"}),
		messages(1, outbox.Message{Topic: "t", Due: time.Now().Add(time.Hour)}),
	} {
		_, err := p.Outbox.EnqueueBatch(t.Context(), m)
		must(t, err)
	}
	want(7, "enqueued")

	owner := outbox.NewOwnerToken()
	queue := p.Outbox.WorkQueue("default")
	held, err := queue.Claim(t.Context(), owner, time.Hour, 3)
	must(t, err)
	if len(held) != 3 {
		t.Fatalf("%d claimed", len(held))
	}
	want(7, "three claimed")
	_, err = queue.Ack(t.Context(), owner, held[0].Position)
	must(t, err)
	_, err = queue.Fail(t.Context(), owner, os.ErrInvalid, held[1].Position)
	must(t, err)
	want(5, "one acked, one failed")

	_, err = p.Admin.Pause(t.Context(), admin.Queue, "mail", "")
	must(t, err)
	want(3, "queue paused")
	_, err = p.Admin.Resume(t.Context(), admin.Queue, "mail")
	must(t, err)
	want(5, "queue resumed")

	_, err = p.Outbox.EnqueueBatch(t.Context(), messages(4, outbox.Message{Topic: "k", Queue: "mail", OrderingKey: "one"}))
	must(t, err)
	_, err = p.Outbox.WorkQueue("mail").Claim(t.Context(), owner, time.Hour, 2) // puts them in order, and takes the first two of all
	must(t, err)
	want(6, "one of an ordering key")
}
