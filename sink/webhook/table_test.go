package webhook

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-226: each endpoint of the program's table gets its own messages, signed by its secrets, and
// an id of its own; the type is the event's.
func TestTable(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	_, err := db.SQL.ExecContext(t.Context(), `CREATE TABLE hook (id text, url text, secrets text)`)
	must(t, err)
	for id, secrets := range map[string]any{"acme": secret + "  " + secret, "best": nil} {
		_, err = db.SQL.ExecContext(t.Context(), `INSERT INTO hook VALUES ($1, $2, $3)`, id, r.URL+"/"+id, secrets)
		must(t, err)
	}
	p := start(t, db, Options{Lookup: Table(db.SQL, `SELECT url, secrets FROM hook WHERE id = $1`)})
	p.Sink.Handle("webhook.*", once())
	messages := Messages(outbox.Message{Topic: "order.created", Payload: []byte("{}")}, "webhook.", "acme", "best", "none")
	ids, err := p.Outbox.EnqueueBatch(t.Context(), messages)
	must(t, err)
	p.run()
	signatures := map[string]int{}
	for _, got := range r.all() {
		signatures[got.path] = len(strings.Fields(got.header.Get("webhook-signature")))
		if want := map[string]string{"/acme": ids[0].String(), "/best": ids[1].String()}[got.path]; got.header.Get("webhook-id") != want {
			t.Errorf("%s: id %s, want %s", got.path, got.header.Get("webhook-id"), want)
		}
	}
	if len(signatures) != 2 || signatures["/acme"] != 2 || signatures["/best"] != 0 {
		t.Errorf("signatures %v", signatures)
	}
	if i := p.info(ids[2]); i.Status == outbox.Done || !strings.Contains(i.LastError, `there is no endpoint "none"`) {
		t.Errorf("%s: %q", i.Status, i.LastError)
	}
}

// counting counts the rows that are read.
type counting struct {
	*sql.DB
	n int
}

func (c *counting) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.n++
	return c.DB.QueryRowContext(ctx, query, args...)
}

// D-226: a row is remembered for seconds, a bounded number of them.
func TestTableRemembers(t *testing.T) {
	t.Parallel()
	db := &counting{DB: dbtest.OpenSQLite(t).SQL}
	now := time.Now()
	table := &table{db: db, query: `SELECT 'https://example.com/' || $1, null`, rows: map[string]row{}, now: func() time.Time { return now }}
	read := func(id string) {
		t.Helper()
		e, err := table.lookup(t.Context(), id, nil)
		if must(t, err); e.URL != "https://example.com/"+id || len(e.Secrets) != 0 {
			t.Errorf("%+v", e)
		}
	}
	read("a")
	read("a")
	if db.n != 1 {
		t.Errorf("%d reads", db.n)
	}
	now = now.Add(tableFor)
	read("a")
	if db.n != 2 {
		t.Errorf("%d reads after %v", db.n, tableFor)
	}
	for i := range tableRows + 10 {
		read(strconv.Itoa(i))
	}
	if len(table.rows) > tableRows {
		t.Errorf("%d rows", len(table.rows))
	}
}

// D-226: endpoints neither replace each other's messages nor wait for each other.
func TestMessages(t *testing.T) {
	var duplicate bool
	event := outbox.Message{
		ID: outbox.MessageID{1}, Topic: "order.created", Headers: map[string]string{"a": "b"}, UniqueKey: "u", OrderingKey: "o", Payload: []byte("x"), Queue: "q",
		Unique: &outbox.UniqueOptions{Duplicate: &duplicate},
	}
	all := Messages(event, "webhook.", "acme", "best")
	if len(all) != 2 || len(event.Headers) != 1 || Messages(event, "webhook.") == nil {
		t.Fatalf("%d messages, headers %v", len(all), event.Headers)
	}
	for i, id := range []string{"acme", "best"} {
		m := all[i]
		if !m.ID.IsZero() || m.Topic != "webhook."+id || m.UniqueKey != "u/"+id || m.OrderingKey != "o/"+id || m.Headers[HeaderEventType] != "order.created" || m.Headers["a"] != "b" ||
			m.Queue != "q" || m.Unique.Duplicate == &duplicate {
			t.Errorf("%+v", m)
		}
	}
	named := Messages(outbox.Message{Topic: "t", Headers: map[string]string{"Webhook-Event-Type": "other"}}, "webhook.", "acme")
	if eventType(&named[0]) != "other" {
		t.Errorf("type %q", eventType(&named[0]))
	}
}
