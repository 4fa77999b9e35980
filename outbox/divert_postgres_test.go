package outbox_test

import (
	"fmt"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-319: messages that a claim sets aside for the limit of their topic go to its lane, whatever order the planner
// joins tables in. Here it believes that there is one lane, and joins that first.
func TestClaimsUnderALimitLoseNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.OpenPostgres(t)
	f := &fixture{Outbox: parts.NewOutbox(d, worker.Options{}), t: t, db: d}
	exec := func(statement string) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		f.enqueue(outbox.Message{Topic: "t", Queue: fmt.Sprint("another", i)})
	}
	exec("ANALYZE " + d.Table("outbox_lane"))
	exec("UPDATE pg_catalog.pg_class SET reltuples = 1 WHERE oid = '" + d.Table("outbox_lane") + "'::regclass")
	const n = 20
	for i := range 2 * n { // so that there are as many runs
		f.enqueue(outbox.Message{Topic: []string{"limited", "t"}[i%2]})
	}
	owner, msgs := f.claim(3 * n)
	var ids []int64
	for _, m := range msgs {
		if m.Topic == "limited" {
			ids = append(ids, int64(m.Position))
		}
	}
	tx := f.begin()
	// As in claims under limits, which call it; and where the planner would hesitate, for it.
	for _, setting := range []string{"enable_hashjoin = off", "enable_mergejoin = off", "enable_bitmapscan = off", "random_page_cost = 1000"} {
		if _, err := tx.ExecContext(t.Context(), "SET LOCAL "+setting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT "+d.Table("outbox_divert")+"('default', $1, $2, $3)", owner.String(), ids, "limited"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := f.rows("SELECT 1 FROM " + d.Table("outbox_ready") + " r, generate_series(1, r.n) WHERE r.lo = ANY (SELECT id FROM " + d.Table("outbox_message") + " WHERE topic = 'limited')"); got != n {
		t.Errorf("%d of %d messages are left", got, n)
	}
}
