package postgres_test

import "testing"

// D-846: beside 50 000 messages of one key, one by one, and as many other keys, a claim of few reads what it takes,
// and a look for the next key each; without statistics, and with those of an empty table.
func TestTurnsBesideAFlood(t *testing.T) {
	h := newHeld(t)
	h.release(t)
	h.exec(t, `VACUUM ANALYZE pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_message`)
	h.exec(t, `INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (77, 'default', 0, 1)`)
	h.exec(t, `INSERT INTO pawl.outbox_message (id, message_id, lane, topic, payload) SELECT i, lpad(to_hex(i), 32, '0')::uuid, 77, 't', '' FROM generate_series(1, 2 * $n) i`)
	h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 77, timestamptz 'epoch' - interval '8000 s', i, 1 FROM generate_series(1, $n) i`)
	claim := `pawl.outbox_claim_ranges('default', $owner, '1 h', 20, 20, '{-infinity}', ARRAY[NULL::timestamptz], NULL, NULL) r WHERE r.id IS NOT NULL`
	if buffers, rows := h.buffers(t, claim); buffers > 500 || rows != 20 {
		t.Errorf("beside a flood: %d buffers for %d rows", buffers, rows)
	}
	h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 77, timestamptz 'epoch' - interval '7000 s' + i * interval '1 microsecond', i + $n, 1 FROM generate_series(1, $n) i`)
	if buffers, rows := h.buffers(t, claim); buffers > 700 || rows != 20 {
		t.Errorf("beside many keys: %d buffers for %d rows", buffers, rows)
	}
}
