package sqlserver_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/testmssql"
)

// caller is a program in another language: it has procedures and views.
type caller struct {
	t      *testing.T
	pool   *sql.DB
	schema string
}

// call runs a procedure and returns what it returned.
func (c *caller) call(procedure string, args ...any) int {
	c.t.Helper()
	var n sql.NullInt64 // null is 0 for SQL Server, but not for others
	err := c.pool.QueryRowContext(c.t.Context(), "DECLARE @n int;\nEXEC @n = "+c.in(procedure)+";\nSELECT @n", args...).Scan(&n)
	enginetest.Must(c.t, err)
	return int(n.Int64)
}

func (c *caller) in(text string) string { return strings.ReplaceAll(text, "pawl.", c.schema+".") }

// wants fails unless a call returns n.
func (c *caller) wants(n int, procedure string, args ...any) {
	c.t.Helper()
	if got := c.call(procedure, args...); got != n {
		c.t.Errorf("%s returned %d, want %d", procedure, got, n)
	}
}

// ids returns the first column of a claim's rows, as the JSON array that settlements take.
func (c *caller) ids(claim string, args ...any) (ids string, n int) {
	c.t.Helper()
	rows, err := c.pool.QueryContext(c.t.Context(), "EXEC "+c.in(claim), args...)
	enginetest.Must(c.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	enginetest.Must(c.t, err)
	var all []string
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = new(any)
		}
		enginetest.Must(c.t, rows.Scan(row...))
		switch id := (*row[0].(*any)).(type) {
		case []byte: // a uniqueidentifier, with its first groups reversed
			all = append(all, fmt.Sprintf(`"%x-%x-%x-%x-%x"`, []byte{id[3], id[2], id[1], id[0]}, []byte{id[5], id[4]}, []byte{id[7], id[6]}, id[8:10], id[10:]))
		default:
			all = append(all, fmt.Sprint(id))
		}
	}
	enginetest.Must(c.t, rows.Err())
	return "[" + strings.Join(all, ",") + "]", len(all)
}

// count returns how many rows a query counts.
func (c *caller) count(query string) (n int) {
	c.t.Helper()
	enginetest.Must(c.t, c.pool.QueryRowContext(c.t.Context(), c.in(query)).Scan(&n))
	return n
}

const (
	anOwner = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	aHolder = "7f9619ff-8b86-d011-b42d-00c04fc964ff"
)

// OBX-112, OBX-120: what programs in other languages call does what the library does, one
// round trip each.
func TestProceduresOnSQLServer(t *testing.T) {
	d := dbtest.Named(t, "sqlserver").Open(t)
	for _, part := range []struct {
		name string
		test func(c *caller)
	}{
		{"messages", messageProcedures}, {"timers", timerProcedures}, {"joins", joinProcedures}, {"leases", leaseProcedures}, {"inbox", inboxProcedures},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(&caller{t, d.SQL, strings.TrimSuffix(d.Table(""), ".")}) })
	}
}

func messageProcedures(c *caller) {
	for i := range 6 {
		c.call("pawl.outbox_enqueue @topic = @p1, @payload = @p2", "mail", fmt.Sprintf(`{"n":%d}`, i))
	}
	c.call("pawl.outbox_enqueue @topic = N'later', @payload = N'x', @due_time_utc = '2100-01-01T00:00:00+02:00'")
	claim := "pawl.outbox_claim @owner_token = '" + anOwner + "', @lease_seconds = 30, @batch_size = 50"
	ids, n := c.ids(claim)
	if n != 6 {
		c.t.Fatalf("claimed %d: %s", n, ids)
	}
	all := strings.Split(strings.Trim(ids, "[]"), ",")
	as := func(procedure, id, rest string) {
		c.t.Helper()
		c.wants(1, fmt.Sprintf("pawl.%s @owner_token = '%s', @ids = N'[%s]'%s", procedure, anOwner, id, rest))
		c.wants(0, fmt.Sprintf("pawl.%s @owner_token = '%s', @ids = N'[%s]'%s", procedure, aHolder, id, rest))
	}
	as("outbox_extend", all[0], ", @lease_seconds = 60")
	as("outbox_ack", all[0], "")
	as("outbox_abandon", all[1], ", @error = N'busy'")
	as("outbox_fail", all[2], ", @error = N'gone'")
	as("outbox_release", all[3], ", @delay_seconds = 3600")
	if done, failed := c.count("SELECT COUNT(*) FROM pawl.outbox_item WHERE processed_at IS NOT NULL AND status = 2"), c.count("SELECT COUNT(*) FROM pawl.outbox_item WHERE status = 3"); done != 1 || failed != 1 {
		c.t.Errorf("%d done, %d failed", done, failed)
	}
	_, err := c.pool.ExecContext(c.t.Context(), c.in("UPDATE pawl.outbox_claimed SET locked_until = '2000-01-01'"))
	enginetest.Must(c.t, err)
	c.wants(2, "pawl.outbox_reap_expired")
	c.wants(1, "pawl.outbox_redrive @ids = N'["+all[2]+"]', @reason = N'repaired'")
	c.wants(0, "pawl.outbox_redrive @ids = N'["+all[2]+"]'")
	if due := c.count("SELECT DATEDIFF(hour, '2099-12-31', due_at) FROM pawl.outbox_item WHERE topic = N'later'"); due != 22 {
		c.t.Errorf("due %d hours after the day before, want 22", due)
	}
}

func timerProcedures(c *caller) {
	id := "8f9619ff-8b86-d011-b42d-00c04fc964ff"
	c.call("pawl.timer_schedule @topic = N'mail', @payload = N'x', @due_time = '2000-01-01T00:00:00Z', @timer_id = '" + id + "'")
	c.call("pawl.timer_schedule @topic = N'mail', @payload = N'y', @due_time = '2100-01-01', @key = N'k'")
	c.wants(1, "pawl.timer_reschedule @timer_id = '"+id+"', @due_time = '2001-01-01T00:00:00+01:00'")
	ids, n := c.ids("pawl.timer_claim @owner_token = '" + anOwner + "', @lease_seconds = 30")
	if n != 1 || !strings.EqualFold(ids, `["`+id+`"]`) {
		c.t.Fatalf("claimed %s", ids)
	}
	c.wants(1, "pawl.timer_abandon @owner_token = '"+anOwner+"', @ids = @p1, @error = N'busy', @delay_seconds = 0", ids)
	if _, n = c.ids("pawl.timer_claim @owner_token = '" + anOwner + "', @lease_seconds = 30"); n != 1 {
		c.t.Fatalf("claimed %d again", n)
	}
	c.wants(1, "pawl.timer_ack @owner_token = '"+anOwner+"', @ids = @p1", ids)
	c.wants(0, "pawl.timer_cancel @timer_id = '"+id+"'")
	c.wants(1, "pawl.timer_cancel_key @key = N'k'")
	c.wants(0, "pawl.timer_cancel_key @key = N'k'")
	c.wants(0, "pawl.timer_reap_expired")
}

func joinProcedures(c *caller) {
	join := "9f9619ff-8b86-d011-b42d-00c04fc964ff"
	c.call("pawl.outbox_join_start @expected_steps = 2, @join_id = @p1", join)
	for i := range 2 {
		step := fmt.Sprintf("a%df619ff-8b86-d011-b42d-00c04fc964ff", i)
		c.call("pawl.outbox_enqueue @topic = N'step', @payload = N'x', @queue = N'steps', @message_id = @p1", step)
		c.call("pawl.outbox_join_attach @join_id = @p1, @message_id = @p2", join, step)
	}
	c.call("pawl.outbox_join_wait @join_id = @p1, @on_complete_topic = N'next', @on_complete_payload = N'z', @queue = N'waits'", join)
	ids, n := c.ids("pawl.outbox_claim @owner_token = '" + anOwner + "', @lease_seconds = 30, @queue = N'steps'")
	if n != 2 {
		c.t.Fatalf("claimed %d steps", n)
	}
	first := strings.Split(strings.Trim(ids, "[]"), ",")[0]
	c.wants(0, "pawl.outbox_set_result @owner_token = '"+aHolder+"', @id = "+first+", @result = N'lost'")
	c.wants(1, "pawl.outbox_set_result @owner_token = '"+anOwner+"', @id = "+first+", @result = N'replaced'")
	c.wants(1, "pawl.outbox_set_result @owner_token = '"+anOwner+"', @id = "+first+", @result = N'grün'")
	c.wants(2, "pawl.outbox_ack @owner_token = '"+anOwner+"', @ids = @p1", ids)
	if n := c.count("SELECT COUNT(*) FROM pawl.outbox_join_result WHERE result = 0x6772C3BC6E"); n != 1 {
		c.t.Errorf("%d results", n)
	}
	if n := c.count("SELECT COUNT(*) FROM pawl.outbox_joins WHERE completed_steps = 2 AND failed_steps = 0"); n != 1 {
		c.t.Errorf("%d joins are complete", n)
	}
}

func leaseProcedures(c *caller) {
	acquire := "pawl.lease_acquire @name = N'books', @owner = N'shop', @lease_seconds = 30, @holder = @p1"
	var rows int
	for _, holder := range []string{anOwner, aHolder} {
		_, n := c.ids(acquire, holder)
		rows += n
	}
	if held := c.count("SELECT COUNT(*) FROM pawl.lease WHERE holder = '" + anOwner + "'"); held != 1 {
		c.t.Errorf("the first holds %d, of %d answers", held, rows)
	}
	c.wants(1, "pawl.lease_renew @name = N'books', @holder = '"+anOwner+"', @lease_seconds = 60")
	c.wants(0, "pawl.lease_renew @name = N'books', @holder = '"+aHolder+"', @lease_seconds = 60")
	tx, err := c.pool.BeginTx(c.t.Context(), nil)
	enginetest.Must(c.t, err)
	_, err = tx.ExecContext(c.t.Context(), c.in("DECLARE @token bigint = (SELECT l.token FROM pawl.lease l WHERE l.name = N'books'); EXEC pawl.lease_guard @name = N'books', @holder = '"+anOwner+"', @token = @token"))
	enginetest.Must(c.t, err)
	_, err = tx.ExecContext(c.t.Context(), c.in("EXEC pawl.lease_guard @name = N'books', @holder = '"+aHolder+"', @token = 1"))
	if err == nil || !strings.Contains(err.Error(), "lease lost") {
		c.t.Errorf("a guard of another holder: %v", err)
	}
	enginetest.Must(c.t, tx.Rollback())
	c.wants(1, "pawl.lease_release @name = N'books', @holder = '"+anOwner+"'")
}

func inboxProcedures(c *caller) {
	enqueue := "pawl.inbox_enqueue @source = N'bank', @message_id = N'ü7', @topic = N'paid', @payload = N'x', @queue = N'received', @hash = 0x00ff"
	c.wants(1, enqueue)
	c.wants(0, enqueue)
	if want := inbox.MessageIDOf(access.Key{}, inbox.Key{Source: "bank", MessageID: "ü7"}); c.count("SELECT COUNT(*) FROM pawl.outbox_message WHERE message_id = '"+want.String()+"'") != 1 {
		c.t.Errorf("Go gives it the id %s", want)
	}
	if _, n := c.ids("pawl.inbox_claim @owner_token = '" + anOwner + "', @lease_seconds = 30, @queue = N'received'"); n != 1 {
		c.t.Errorf("claimed %d of what was received", n)
	}
	c.wants(0, "pawl.inbox_reap_expired")
	if _, n := c.ids("pawl.inbox_claim @owner_token = '" + anOwner + "', @lease_seconds = 30"); n != 0 {
		c.t.Errorf("claimed %d of an empty inbox", n)
	}
	c.wants(0, "pawl.inbox_ack @owner_token = '"+anOwner+"', @ids = N'[1]'")
	c.wants(0, "pawl.inbox_abandon @owner_token = '"+anOwner+"', @ids = N'[1]'")
	c.wants(0, "pawl.inbox_fail @owner_token = '"+anOwner+"', @ids = N'[1]'")
}

// OBX-124: a role of the database gets each of pawl's roles.
func TestGrantOnSQLServer(t *testing.T) {
	d := dbtest.Named(t, "sqlserver").Open(t)
	db, ok := engine.As[engine.Granter](d.DB)
	if !ok {
		t.Fatal("no grants")
	}
	name := testmssql.Name()
	_, err := d.SQL.ExecContext(t.Context(), "CREATE ROLE "+name)
	enginetest.Must(t, err)
	t.Cleanup(func() { _, _ = d.SQL.Exec("DROP ROLE " + name) })
	for _, role := range db.Roles() {
		if err := db.Grant(t.Context(), engine.Grant{Role: role, To: name}); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := db.Grant(t.Context(), engine.Grant{Role: engine.RoleMigrator, To: name}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a migrator: %v", err)
	}
}
