package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// held is a database in which a snapshot is held while entries are deleted.
type held struct {
	*pgx.Conn
	text    *strings.Replacer
	db      *postgres.DB
	release func(t *testing.T)
}

func newHeld(t *testing.T) *held {
	t.Helper()
	db := dbtest.OpenPostgres(t)
	keepStatistics(t, db)
	text := strings.NewReplacer("$owner", "uuid '11111111-1111-1111-1111-111111111111'", "$n", "50000", "pawl.", db.Table(""))
	connect := func() *held {
		conn, err := pgx.ConnectConfig(t.Context(), db.DB.(*postgres.DB).Pool().Config().ConnConfig.Copy())
		enginetest.Must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return &held{Conn: conn, text: text, db: db.DB.(*postgres.DB)}
	}
	holder, h := connect(), connect()
	holder.exec(t, `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()`)
	h.release = func(t *testing.T) { holder.exec(t, `ROLLBACK`) }
	return h
}

func (h *held) exec(t *testing.T, query string) {
	t.Helper()
	_, err := h.Exec(t.Context(), h.text.Replace(query), pgx.QueryExecModeSimpleProtocol)
	enginetest.Must(t, err)
}

// buffers returns how many a call reads, and the rows it returns. It is made several times, and undone,
// and the least counts: the first call of a session also reads the catalog, and so does one before which
// another session changed a schema.
func (h *held) buffers(t *testing.T, call string) (buffers, rows int) {
	t.Helper()
	buffers = math.MaxInt
	for range 5 {
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
		buffers, rows = min(buffers, answer[0].Plan.Hit+answer[0].Plan.Read), int(answer[0].Plan.Rows)
	}
	return buffers, rows
}

// D-660: with 50 000 entries deleted since a snapshot was taken, a claim that begins at a mark, full or
// not, and the settlement of what it took read at most 50 buffers, and a call that reaps 300.
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
	h.timers(t)
	calls := map[string]string{
		"claim":            `pawl.outbox_claim_ranges('default', $owner, '1 h', 1, 1, ARRAY[now() - interval '10 min', '-infinity'], ARRAY[NULL, now() - interval '10 min'], NULL, NULL) r WHERE r.id IS NOT NULL`,
		"claim of a part":  `pawl.outbox_claim_ranges('default', $owner, '1 h', 10, 10, ARRAY[now() - interval '10 min', now() - interval '1 hour'], ARRAY[NULL, now() - interval '1 hour' + interval '100 ms'], NULL, NULL) r WHERE r.id IS NOT NULL`,
		"claim of no lane": `pawl.outbox_claim_ranges('other', $owner, '1 h', 10, 10, ARRAY[timestamptz '-infinity'], NULL, '1 min', NULL)`,
		"reap":             `pawl.outbox_reap_runs(50, 5, 1)`,
		"adopt":            `pawl.outbox_adopt('{default}')`,
		"ack":              `pawl.outbox_ack_runs(ARRAY[$owner], ARRAY[$n + 2::bigint], ARRAY[1], 'w')`,
		"next due":         `pawl.outbox_next_due('default', now() - interval '2 s')`,
		"next timer":       `pawl.timer_next_due(now() - interval '2 s', now() - interval '1 hour', now() - interval '1 hour' + interval '1 s', '1 s')`,
	}
	h.reads(t, calls)
	// With two living rows, in a table and an index of many pages, the planner would read all of the table.
	h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (4828129222919567135, now() + interval '1 day', $n + 10, 1)`)
	h.timer(t, `i, now() + interval '1 day'`, `generate_series(1, 2) i`)
	h.exec(t, `ANALYZE pawl.outbox_ready; ANALYZE pawl.outbox_claim; ANALYZE pawl.timer`)
	h.reads(t, calls)
}

// reads checks how many buffers calls read.
func (h *held) reads(t *testing.T, calls map[string]string) {
	t.Helper()
	for name, call := range calls {
		most := 50
		if name == "reap" {
			most = 300 // 256 blocks of the table
		}
		if buffers, rows := h.buffers(t, call); buffers > most || rows != 1 {
			t.Errorf("%s: %d buffers for %d rows", name, buffers, rows)
		}
	}
}

// claimed makes 50 000 entries of messages that were claimed.
func (h *held) claimed(t *testing.T) {
	t.Helper()
	h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 4828129222919567135, now() - interval '1 hour' + i * interval '10 ms', i, 1 FROM generate_series(1, $n) i`)
	h.exec(t, `DELETE FROM pawl.outbox_ready`)
}

// ready makes a message that became ready so long ago.
func (h *held) ready(t *testing.T, id int, since string) {
	t.Helper()
	h.exec(t, fmt.Sprintf(`INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) VALUES (%[1]d, lpad('%[1]d', 32, '0')::uuid, 4828129222919567135, 't', '');
		INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (4828129222919567135, now() - interval '%[2]s', %[1]d, 1)`, id, since))
}

// D-669: while a snapshot is held, claims of a loop read what is below their mark in parts, and find what
// became ready there; a claim that is to leave nothing reads it at once; when the entries are gone, so do
// all claims.
func TestLateMessageWhileASnapshotIsHeld(t *testing.T) {
	h := newHeld(t)
	h.claimed(t)
	late := func(id int) {
		t.Helper()
		h.ready(t, id, "50 min")
	}
	claims := func(all bool, most int) (n int) {
		t.Helper()
		for n < most {
			n++
			got, err := engine.Query(t.Context(), h.db, op.OutboxClaim{Queue: "default", Owner: [16]byte{1}, Lease: time.Hour, Most: 10, All: all})
			enginetest.Must(t, err)
			if len(got) > 0 {
				break
			}
		}
		return n
	}
	if claims(false, 3); postgres.Swept(h.db, "default") {
		t.Fatal("with 50 000 entries below the mark they are read at once")
	}
	late(30_001)
	if n := claims(false, 1000); n < 2 || n == 1000 {
		t.Errorf("the late message was found by claim %d", n)
	}
	late(30_002)
	if n := claims(true, 10); n != 1 {
		t.Errorf("a claim that is to leave nothing is number %d", n)
	}
	h.release(t)
	for n := 0; !postgres.Swept(h.db, "default"); n++ {
		if n%100 == 0 { // snapshots of other tests keep entries, too
			h.exec(t, `VACUUM pawl.outbox_ready`)
		}
		if claims(false, 1); n > 20_000 {
			t.Fatal("with nothing below the mark it is read in parts")
		}
	}
	late(30_003)
	if n := claims(false, 10); n != 1 {
		t.Errorf("the late message was found by claim %d, with nothing else below the mark", n)
	}
}

// D-669: with more entries of settled messages than a call reads, each lease that expired is found by one of
// the next calls, and by the first that is to leave none.
func TestReapReadsEveryBlock(t *testing.T) {
	h := newHeld(t)
	expire := func(lo string) {
		t.Helper()
		h.exec(t, `INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) VALUES (`+lo+`, gen_random_uuid(), 4828129222919567135, 't', '');
			INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) VALUES (`+lo+`, 1, 4828129222919567135, now(), 0, $owner, now() - interval '1 s')`)
	}
	expire("0")
	h.exec(t, `INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, 4828129222919567135, now(), 0, $owner, now() FROM generate_series(1, $n) i; DELETE FROM pawl.outbox_claim WHERE lo > 0`)
	expire("$n + 1")
	reap := func(all bool) int64 {
		t.Helper()
		call := engine.Ask(op.OutboxReap{Most: 50, Keep: 5, All: all})
		enginetest.Must(t, h.db.Do(t.Context(), call))
		return call.N
	}
	if n, more, last := reap(false), reap(false), reap(false); n+more+last != 2 || max(n, more, last) != 1 {
		t.Errorf("three calls reap %d, %d and %d of two", n, more, last)
	}
	expire("$n + 2")
	expire("$n + 3")
	if n := reap(true); n != 2 {
		t.Errorf("a call that is to leave none reaps %d of two", n)
	}
}

// D-860: with 50 000 entries deleted since a snapshot was taken, most claims of a session that claims through SQL
// read only what came since the last one, and another finds what became ready long before.
func TestClaimThroughSQLBesideAHeldSnapshot(t *testing.T) {
	h := newHeld(t)
	h.claimed(t)
	const claim = `pawl.outbox_claim($owner, 60, 10)`
	for n := 1; ; n++ { // all is read again after 2.5 s, which a machine that stands still may take
		h.exec(t, `SELECT count(*) FROM `+claim)
		h.ready(t, n, "0")
		buffers, rows := h.buffers(t, claim)
		if rows != 1 {
			t.Fatalf("a claim of the one message returned %d", rows)
		}
		if buffers <= 100 {
			break
		}
		if n == 10 {
			t.Fatalf("a claim reads %d buffers", buffers)
		}
	}
	h.exec(t, `SELECT count(*) FROM `+claim)
	h.ready(t, 100, "50 min")
	enginetest.Until(t, "the late message is claimed", func() bool {
		var n int
		enginetest.Must(t, h.QueryRow(t.Context(), h.text.Replace(`SELECT count(*) FROM `+claim+` c WHERE c.id = 100`), pgx.QueryExecModeSimpleProtocol).Scan(&n))
		return n == 1
	})
}

// timers makes 50 000 entries of timers that were moved: deleted ones have the same.
func (h *held) timers(t *testing.T) {
	t.Helper()
	h.timer(t, `i, now() - interval '1 hour' + i * interval '10 ms'`, `generate_series(1, $n) i`)
	h.exec(t, `DELETE FROM pawl.timer`)
}

func (h *held) timer(t *testing.T, idAndDue, from string) {
	t.Helper()
	h.exec(t, `INSERT INTO pawl.timer (id, due_time, at, timer_id, lane, topic, payload) SELECT x.id, x.due, x.due, lpad(x.id::text, 32, '0')::uuid, 4828129222919567135, 't', ''
		FROM (SELECT `+idAndDue+` FROM `+from+`) x(id, due)`)
}

// D-857: with 50 000 entries of timers that were moved since a snapshot was taken, a dispatch that begins at a
// mark, and a read of what is due next, read at most 50 buffers.
func TestTimersBesideAHeldSnapshot(t *testing.T) {
	h := newHeld(t)
	h.timers(t)
	h.timer(t, `$n + 1, now()`, `(VALUES (1)) x`)
	if buffers, rows := h.buffers(t, `pawl.timer_dispatch(1000, now() - interval '2 s') n WHERE n = 1`); buffers > 50 || rows != 1 {
		t.Errorf("a dispatch: %d buffers for %d rows", buffers, rows)
	}
	h.timer(t, `$n + 2, now() - interval '30 min'`, `(VALUES (1)) x`)
	if buffers, rows := h.buffers(t, `pawl.timer_dispatch(1000, now() - interval '30 min 1 s', now() - interval '30 min' + interval '1 s') n WHERE n = 1`); buffers > 50 || rows != 1 {
		t.Errorf("a dispatch of a part: %d buffers for %d rows", buffers, rows)
	}
}

// D-857: while a snapshot is held, timers are moved at once, and what became due long before is found in one of the
// parts that are read; when the entries are gone, all is read again.
func TestLateTimerWhileASnapshotIsHeld(t *testing.T) {
	h := newHeld(t)
	h.timers(t)
	next := func() (micros int64) {
		t.Helper()
		got, _, err := engine.Get(t.Context(), h.db, op.TimerNextDue{})
		enginetest.Must(t, err)
		if got.Micros == nil {
			return math.MaxInt64
		}
		return *got.Micros
	}
	moved := func() int64 {
		t.Helper()
		n, err := engine.Exec(t.Context(), h.db, nil, op.TimerDispatch{Most: 10})
		enginetest.Must(t, err)
		return n
	}
	// until is how many dispatches and reads it takes until one moves something.
	until := func(most int) (n int) {
		t.Helper()
		for n = 1; moved() == 0 && n < most; n++ {
			if micros := next(); micros > time.Second.Microseconds() && !postgres.TimersSwept(h.db) {
				t.Fatalf("while parts are read the next read is to be in %d us", micros)
			}
		}
		return n
	}
	next()
	if next(); postgres.TimersSwept(h.db) {
		t.Fatal("with 50 000 entries below the mark they are read at once")
	}
	h.timer(t, `$n + 1, now()`, `(VALUES (1)) x`)
	if n := until(2); n != 1 {
		t.Error("a timer that became due is not moved at once")
	}
	next()
	h.timer(t, `$n + i, now() - interval '50 min' + i * interval '1 us'`, `generate_series(2, 31) i`)
	if n := until(1000); n < 3 || n == 1000 {
		t.Errorf("the late timers were found by dispatch %d", n)
	}
	if n, more := until(3), until(3); n > 2 || more > 2 {
		t.Errorf("the others of them were found by the dispatches %d and %d", n, more)
	}
	h.release(t)
	for n := 0; !postgres.TimersSwept(h.db); n++ {
		if n%100 == 0 { // snapshots of other tests keep entries, too
			h.exec(t, `VACUUM pawl.timer`)
		}
		if next(); n > 20_000 {
			t.Fatal("with nothing below the mark it is read in parts")
		}
	}
	h.timer(t, `$n + 40, now() - interval '50 min'`, `(VALUES (1)) x`)
	if n := until(10); n != 1 {
		t.Errorf("the late timer was found by dispatch %d, with nothing else below the mark", n)
	}
}

// D-858: a clean-up deletes some 10 000 messages in a transaction, regardless of how long their runs are: each reads the
// entries of all that was deleted since the oldest snapshot.
func TestCleanUpTakesFewTransactions(t *testing.T) {
	for _, length := range []int{1, 100, 15_000} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			h := newHeld(t)
			h.exec(t, `INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) SELECT i, lpad(i::text, 32, '0')::uuid, 4828129222919567135, 't', '' FROM generate_series(1, 30000) i`)
			h.exec(t, fmt.Sprintf(`INSERT INTO pawl.outbox_done (lo, n, processed_at, owner) SELECT i, %[1]d, now() - interval '1 day', $owner FROM generate_series(1, 30000, %[1]d) i`, length))
			var all []int64
			for len(all) == 0 || all[len(all)-1] > 0 {
				n, err := engine.Exec(t.Context(), h.db, nil, op.OutboxPurge{Age: time.Hour, Look: 200})
				enginetest.Must(t, err)
				all = append(all, n)
			}
			if want := max(10_000, int64(length)); all[0] != want || len(all) != 30_000/int(want)+1 {
				t.Errorf("transactions of %d messages", all)
			}
		})
	}
}
