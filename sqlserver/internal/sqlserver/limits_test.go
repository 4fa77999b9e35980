package sqlserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/throttle"
)

// D-214: the lane of a limit has the number that the library computes.
func TestLimitLanesOnSQLServer(t *testing.T) {
	d := dbtest.Named(t, "sqlserver").Open(t)
	c := &caller{t, d.SQL, strings.TrimSuffix(d.Table(""), ".")}
	names := []string{"mail", "mail ", "a/0"}
	if c.count("SELECT CASE WHEN pawl.outbox_utf8(N'ø') = 0xC3B8 THEN 1 ELSE 0 END") == 1 { // Babelfish has another
		names = append(names, "grün 𝄞")
	}
	for _, queue := range names {
		for _, topic := range names {
			for _, priority := range []int{0, -7} {
				var lane int64
				err := d.SQL.QueryRowContext(t.Context(), c.in("DECLARE @lane bigint; EXEC pawl.outbox_limit_lane @p1, @p2, @p3, @lane OUTPUT; SELECT @lane"), queue, priority, topic).Scan(&lane)
				enginetest.Must(t, err)
				if want := engine.LimitLaneID(queue, priority, topic); lane != want {
					t.Errorf("the lane of %q in %q at %d has the number %d, want %d", topic, queue, priority, lane, want)
				}
			}
		}
	}
	if n := c.count("SELECT COUNT(*) FROM pawl.outbox_lane WHERE kind = 3"); n != 2*len(names)*len(names) {
		t.Errorf("%d lanes are known", n)
	}
}

// D-214: programs in other languages obey limits as well: names count with the spaces at their end,
// a message that is about to be settled is still claimed, and nobody waits for that, nor for long
// for another claim under the same limit.
func TestLimitsInProceduresOnSQLServer(t *testing.T) {
	d := dbtest.Named(t, "sqlserver").Open(t)
	c := &caller{t, d.SQL, strings.TrimSuffix(d.Table(""), ".")}
	const queue, topic = "Schlange ø𝄞", "grün 𝄞"
	limits := throttle.New(d, nil)
	for _, name := range []string{topic, "other"} {
		if _, err := limits.Set(t.Context(), throttle.Topic, name, throttle.Bounds{Concurrency: 1}, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, topic := range []string{topic, topic, topic, topic + " ", "other", "other"} {
		c.call("pawl.outbox_enqueue @topic = @p1, @payload = N'x', @queue = @p2", topic, queue)
	}
	claim := func(want int) string {
		t.Helper()
		ids, n := c.ids("pawl.outbox_claim @owner_token = '"+anOwner+"', @lease_seconds = 300, @queue = @p1", queue)
		if n != want {
			t.Fatalf("claimed %d, want %d", n, want)
		}
		return ids
	}
	settle := fmt.Sprintf("EXEC pawl.outbox_ack @owner_token = '%s', @ids = @p1", anOwner)
	ids := claim(3)
	claim(0)
	tx := d.Begin(t)
	_, err := tx.ExecContext(t.Context(), c.in(settle), ids)
	enginetest.Must(t, err)
	claim(0) // it is not settled yet
	enginetest.Must(t, tx.Commit())
	tx = d.Begin(t)
	rows, err := tx.QueryContext(t.Context(), c.in("EXEC pawl.outbox_claim @owner_token = '"+aHolder+"', @lease_seconds = 300, @queue = @p1"), queue)
	enginetest.Must(t, err)
	defer rows.Close()
	got := 0
	for rows.Next() {
		got++
	}
	enginetest.Must(t, errors.Join(rows.Err(), rows.Close()))
	if got != 2 {
		t.Errorf("claimed %d, want one of each topic", got)
	}
	claim(0) // the others have their turn until they commit
	enginetest.Must(t, tx.Rollback())
	ids = claim(2)
	if _, err := limits.Remove(t.Context(), throttle.Topic, topic); err != nil {
		t.Fatal(err)
	}
	if n := c.count("SELECT COUNT(*) FROM pawl.outbox_limit_claim"); n != 1 {
		t.Errorf("%d are counted, want one of the limit that is left", n)
	}
	claim(1)
	_, err = d.SQL.ExecContext(t.Context(), c.in(settle), ids)
	enginetest.Must(t, err)
	claim(0)
	if _, err := limits.Set(t.Context(), throttle.Queue, "inbox", throttle.Bounds{Rate: 1, Period: time.Hour, Burst: 2}, ""); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c.call("pawl.inbox_see N's', @p1, NULL", fmt.Sprint(i))
		c.call("pawl.outbox_enqueue @topic = N't', @payload = N'x', @queue = N'inbox', @headers = @p1", fmt.Sprintf(`{"pawl-inbox-source":"s","pawl-inbox-message-id":"%d"}`, i))
	}
	for _, want := range []int{2, 0} {
		if _, n := c.ids("pawl.inbox_claim @owner_token = '" + anOwner + "', @lease_seconds = 300"); n != want {
			t.Errorf("claimed %d of the inbox, want %d", n, want)
		}
	}
	d.CheckPlaces(t)
}
