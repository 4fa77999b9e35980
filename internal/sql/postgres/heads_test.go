package postgres_test

import "testing"

// D-854: a claim of 500 of 5 000 keys reads the first message of each key that it meets, not those behind it: as much
// beside ten as beside one, whatever the statistics.
func TestHeadsOfManyKeys(t *testing.T) {
	h := newHeld(t)
	h.release(t)
	h.exec(t, `VACUUM ANALYZE pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_message, pawl.outbox_order`)
	h.exec(t, `INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (77, 'default', 0, 1)`)
	claim := `pawl.outbox_claim_ranges('default', $owner, '1 h', 500, 500, '{-infinity}', ARRAY[NULL::timestamptz], NULL, NULL) r WHERE r.id IS NOT NULL`
	enqueue := func(from, to string) {
		h.exec(t, `INSERT INTO pawl.outbox_message (id, message_id, lane, topic, headers, payload)
			SELECT i, lpad(to_hex(i), 32, '0')::uuid, 77, 't', '{"pawl-ordering-key": "' || i % 5000 || '"}', '' FROM generate_series(`+from+`, `+to+`) i`)
		h.exec(t, `INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT 77, pawl.outbox_group_at(m.headers), m.id, 1 FROM pawl.outbox_message m WHERE m.lane = 77 AND m.id BETWEEN `+from+` AND `+to)
	}
	enqueue("1", "5000")
	few, rows := h.buffers(t, claim)
	if rows != 500 {
		t.Fatalf("%d rows", rows)
	}
	enqueue("5001", "50000")
	if many, rows := h.buffers(t, claim); rows != 500 || many > few*5/4 {
		t.Errorf("%d buffers for %d rows, %d beside one message of each key", many, rows, few)
	}
	t.Logf("%d buffers", few)
}
