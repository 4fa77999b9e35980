package postgres_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// held is a database in which a snapshot is held while entries are deleted.
type held struct {
	*pgx.Conn
	text *strings.Replacer
}

func newHeld(t *testing.T) *held {
	t.Helper()
	db := dbtest.OpenPostgres(t)
	text := strings.NewReplacer("$owner", "uuid '11111111-1111-1111-1111-111111111111'", "$n", "20000", "pawl.", db.Table(""))
	connect := func() *held {
		conn, err := pgx.ConnectConfig(t.Context(), db.DB.(*postgres.DB).Pool().Config().ConnConfig.Copy())
		enginetest.Must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return &held{conn, text}
	}
	connect().exec(t, `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()`)
	return connect()
}

func (h *held) exec(t *testing.T, query string) {
	t.Helper()
	_, err := h.Exec(t.Context(), h.text.Replace(query), pgx.QueryExecModeSimpleProtocol)
	enginetest.Must(t, err)
}

// buffers returns how many a call reads, and the rows it returns. It is made twice, and undone: the
// first call of a session also reads the catalog.
func (h *held) buffers(t *testing.T, call string) (buffers, rows int) {
	t.Helper()
	for range 2 {
		var text []byte
		var answer []struct {
			Plan struct {
				Hit  int     `json:"Shared Hit Blocks"`
				Read int     `json:"Shared Read Blocks"`
				Rows float64 `json:"Actual Rows"`
			}
		}
		h.exec(t, `BEGIN`)
		enginetest.Must(t, h.QueryRow(t.Context(), h.text.Replace(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM `+call), pgx.QueryExecModeSimpleProtocol).Scan(&text))
		h.exec(t, `ROLLBACK`)
		enginetest.Must(t, json.Unmarshal(text, &answer))
		buffers, rows = answer[0].Plan.Hit+answer[0].Plan.Read, int(answer[0].Plan.Rows)
	}
	return buffers, rows
}

// D-660: with 20 000 entries deleted since a snapshot was taken, a full claim that begins at a mark, and
// the settlement of what it took, read at most 50 buffers.
func TestHeldSnapshot(t *testing.T) {
	h := newHeld(t)
	for _, table := range []struct{ name, rows string }{
		{"outbox_ready", `(lane, at, lo, n) SELECT 4828129222919567135, now() - interval '1 hour' + i * interval '1 ms', i, 1`},
		{"outbox_claim", `(lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, 4828129222919567135, now(), 0, $owner, now() + interval '1 hour'`},
	} {
		h.exec(t, `INSERT INTO pawl.`+table.name+` `+table.rows+` FROM generate_series(1, $n) i`)
		h.exec(t, `DELETE FROM pawl.`+table.name)
	}
	h.exec(t, `INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) SELECT i, lpad(i::text, 32, '0')::uuid, 4828129222919567135, 't', '' FROM generate_series($n + 1, $n + 2) i`)
	h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (4828129222919567135, now(), $n + 1, 1)`)
	h.exec(t, `INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) VALUES ($n + 2, 1, 4828129222919567135, now(), 0, $owner, now() + interval '1 hour')`)
	for name, call := range map[string]string{
		"claim": `pawl.outbox_claim_queue('default', $owner, '1 h', 1, 1, now() - interval '10 min')`,
		"ack":   `pawl.outbox_ack_runs(ARRAY[$owner], ARRAY[$n + 2::bigint], ARRAY[1], 'w')`,
	} {
		if buffers, rows := h.buffers(t, call); buffers > 50 || rows != 1 {
			t.Errorf("%s: %d buffers for %d rows", name, buffers, rows)
		}
	}
}
