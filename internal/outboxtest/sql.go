package outboxtest

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/outbox"
)

func sqlTests() map[string]func(*testing.T, Engine) {
	return map[string]func(*testing.T, Engine){
		"the seed's columns": testViewColumns,
		"the view's states":  testViewStates,
		"schema is complete": testSchemaObjects,
	}
}

// D-102, OBX-111
func testViewColumns(t *testing.T, e Engine) {
	f := open(t, e)
	rows, err := f.db.SQL.QueryContext(f.ctx(), `SELECT id, topic, payload, created_at, status, locked_until, owner_token, is_processed, processed_at,
		processed_by, retry_count, last_error, next_attempt_at, message_id, correlation_id, due_time_utc FROM `+f.db.Table("outbox"))
	if err != nil {
		t.Fatal(err)
	}
	_ = rows.Close()
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// D-24, D-27, D-102, OBX-119: what the view shows is what Get says.
func testViewStates(t *testing.T, e Engine) {
	f := open(t, e)
	f.scatter()
	f.enqueue(outbox.Message{Payload: []byte(`{"text":"ü"}`), CorrelationID: "c"})
	rows, err := f.db.SQL.QueryContext(f.ctx(), `SELECT id, topic, payload, status, owner_token, is_processed, retry_count, last_error, message_id, correlation_id FROM `+f.db.Table("outbox"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id outbox.WorkItemID
		var topic, payload, mid string
		var status, retries int
		var owner, lastError, correlation sql.NullString
		var processed bool
		if err := rows.Scan(&id, &topic, &payload, &status, &owner, &processed, &retries, &lastError, &mid, &correlation); err != nil {
			t.Fatal(err)
		}
		n++
		got := f.get(id)
		if got.Topic != topic || string(got.Payload) != payload || int(got.Status) != status || got.IsProcessed() != processed || got.RetryCount != retries ||
			got.LastError != lastError.String || got.ID.String() != mid || got.CorrelationID != correlation.String || (got.OwnerToken != nil) != owner.Valid {
			t.Fatalf("the view shows %v %v %v %v, Get says %+v", id, status, lastError, mid, got)
		}
		if owner.Valid && !strings.EqualFold(owner.String, got.OwnerToken.String()) {
			t.Fatalf("owner %v, want %v", owner.String, got.OwnerToken)
		}
	}
	if err := errors.Join(rows.Err()); err != nil || n != 7 {
		t.Fatalf("%d rows: %v", n, err)
	}
}

// OBX-108, OBX-111
func testSchemaObjects(t *testing.T, e Engine) {
	f := open(t, e)
	for _, name := range []string{"outbox", "outbox_item", "outbox_message", "outbox_ready", "outbox_claim", "outbox_done", "outbox_exception", "outbox_lane", "pawl_schema"} {
		var n int
		f.row("SELECT count(*) FROM "+f.db.Table(name), &n)
	}
}
