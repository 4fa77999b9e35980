package outbox_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-102, OBX-111
func TestViewColumns(t *testing.T) { dbtest.Each(t, testViewColumns) }

func testViewColumns(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const columns = "id, topic, payload, created_at, status, locked_until, owner_token, is_processed, processed_at, " +
		"processed_by, retry_count, last_error, next_attempt_at, message_id, correlation_id, due_time_utc"
	query := "SELECT " + columns + " FROM " + f.db.Table("outbox")
	rows, err := f.db.SQL.QueryContext(f.ctx(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// shown is a row of the view.
type shown struct {
	id                            outbox.Position
	topic, payload, mid           string
	status, retries               int
	processed                     bool
	owner, lastError, correlation sql.NullString
}

func (f *fixture) shown() []shown {
	f.t.Helper()
	owner, id := "owner_token", "message_id"
	if f.db.Engine() == "sqlserver" { // its driver returns the bytes of a uniqueidentifier
		owner, id = "LOWER(CAST(owner_token AS char(36)))", "LOWER(CAST(message_id AS char(36)))"
	}
	query := "SELECT id, topic, payload, status, " + owner + ", is_processed, retry_count, last_error, " + id + ", correlation_id FROM " + f.db.Table("outbox")
	rows, err := f.db.SQL.QueryContext(f.ctx(), query)
	if err != nil {
		f.t.Fatal(err)
	}
	defer rows.Close()
	var all []shown
	for rows.Next() {
		var s shown
		if err := rows.Scan(&s.id, &s.topic, &s.payload, &s.status, &s.owner, &s.processed, &s.retries, &s.lastError, &s.mid, &s.correlation); err != nil {
			f.t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		f.t.Fatal(err)
	}
	return all
}

// D-24, D-27, D-102, OBX-119: what the view shows is what Get says.
func TestViewStates(t *testing.T) { dbtest.Each(t, testViewStates) }

func testViewStates(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.scatter()
	f.enqueue(outbox.Message{Payload: []byte(`{"text":"ü"}`), CorrelationID: "c"})
	all := f.shown()
	if len(all) != 7 {
		t.Fatalf("the view has %d rows, want 7", len(all))
	}
	for _, s := range all {
		got := f.get(s.id)
		want := shown{
			id: got.Position, topic: got.Topic, payload: string(got.Payload), mid: got.ID.String(), status: slices.Index(stored, got.Status), retries: got.RetryCount,
			processed: got.Status == outbox.Done, lastError: nullable(got.LastError), correlation: nullable(got.CorrelationID),
		}
		if (got.Owner != outbox.OwnerToken{}) {
			want.owner = nullable(got.Owner.String())
		}
		if s != want {
			t.Fatalf("the view shows %+v, Get says %+v", s, want)
		}
	}
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// OBX-108, OBX-111
func TestSchemaObjects(t *testing.T) { dbtest.Each(t, testSchemaObjects) }

func testSchemaObjects(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, name := range []string{"outbox", "outbox_item", "outbox_message", "outbox_ready", "outbox_claim", "outbox_done", "outbox_exception", "outbox_lane", "pawl_schema"} {
		var n int
		f.row("SELECT count(*) FROM "+f.db.Table(name), &n)
	}
}
