package postgres_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/enginetest"
)

// D-834: beside 50 000 flows that wait for signals, and as many that sleep, everything that wakes one, and runs
// it again, reads a number of buffers that does not depend on them: a signal, a claim, what is loaded, a
// step and another wait. So it is without statistics, and with those of an empty table.
func TestWakeBesideParkedFlows(t *testing.T) {
	h := newHeld(t)
	h.release(t)
	h.exec(t, `VACUUM ANALYZE pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_message, pawl.flow_wait, pawl.flow_step, pawl.flow_signal`)
	for _, rows := range []string{
		`outbox_message (id, message_id, lane, topic, payload) SELECT i, lpad(to_hex(i), 32, '0')::uuid, 4828129222919567135, 'flow.t', '' FROM generate_series(1, 2 * $n) i`,
		`outbox_ready (lane, at, lo, n) SELECT 4828129222919567135, CASE WHEN i % 2 = 0 THEN '9999-12-31 UTC' ELSE now() + interval '1 day' + i * interval '1 ms' END, i, 1 FROM generate_series(1, 2 * $n - 2) i`,
		`outbox_claim (lo, n, lane, at, retry, owner, locked_until) SELECT i, 1, 4828129222919567135, now(), 0, $owner, now() + interval '1 hour' FROM generate_series(2 * $n - 1, 2 * $n) i`,
		`flow_wait (id, name, retry) SELECT i, CASE WHEN i % 2 = 0 THEN 'approval' ELSE '' END, 0 FROM generate_series(1, 2 * $n - 2) i`,
		`flow_step (id, name, kind, nr, retry, signal, result) SELECT i, 'begun', 2, 1, 0, 0, '' FROM generate_series(1, 2 * $n) i`,
		`flow_signal (id, nr, name, payload) SELECT i, 1, 'early', '' FROM generate_series(1, $n) i`,
		`outbox_ready (lane, at, lo, n) VALUES (4828129222919567135, now(), 3 * $n, 1)`,
		`outbox_message (id, message_id, lane, topic, payload) VALUES (3 * $n, lpad(to_hex(3 * $n), 32, '0')::uuid, 4828129222919567135, 'flow.t', '')`,
	} {
		h.exec(t, `INSERT INTO pawl.`+rows)
	}
	load, err := os.ReadFile("flow/load.sql")
	enginetest.Must(t, err)
	for name, call := range map[string]string{
		"signal":  `pawl.flow_put_signal(lpad(to_hex($n), 32, '0')::uuid, 'approval', '1') r(n) WHERE r.n = 1`,
		"another": `pawl.flow_put_signal(lpad(to_hex($n + 1), 32, '0')::uuid, 'late', '1') r(n) WHERE r.n = 1`,
		"cancel":  `pawl.flow_put_signal(lpad(to_hex($n), 32, '0')::uuid, '', '') r(n) WHERE r.n = 1`,
		"claim":   `pawl.outbox_claim_ranges('default', $owner, '1 h', 10, 10, ARRAY[now() - interval '10 min', '-infinity'], ARRAY[NULL, now() - interval '10 min'], NULL, NULL) r WHERE r.id IS NOT NULL`,
		"load":    `(` + strings.NewReplacer("@ids", "ARRAY[$n::bigint, 2 * $n::bigint]", "@now", "now()").Replace(string(load)) + `) l WHERE l.kind = -1`,
		"step":    `pawl.flow_keep(ARRAY[$owner], ARRAY[2 * $n::bigint], ARRAY['approval'], ARRAY[0], ARRAY[2], ARRAY[0], ARRAY[1], ARRAY[''::bytea]) r(n) WHERE r.n = 1`,
		"wait":    `pawl.flow_park(ARRAY[$owner], ARRAY[2 * $n::bigint], ARRAY['approval'], ARRAY[NULL::interval]) r(n) WHERE r.n = 1`,
		"sleep":   `pawl.flow_park(ARRAY[$owner], ARRAY[2 * $n::bigint], ARRAY[''], ARRAY[interval '1 day']) r(n) WHERE r.n = 1`,
		"end":     `pawl.outbox_ack_runs(ARRAY[$owner], ARRAY[2 * $n::bigint], ARRAY[1], 'w') r(n) WHERE r.n = 1`,
	} {
		if buffers, rows := h.buffers(t, call); buffers > 100 || rows != 1 {
			t.Errorf("%s: %d buffers for %d rows", name, buffers, rows)
		}
	}
}
