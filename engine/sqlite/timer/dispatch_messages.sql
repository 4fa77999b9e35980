-- Make messages of the due timers up to ?2 at and ?3 position. Under the write
-- lock they are the ones just read. ?1 now.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
SELECT id, timer_id, supplied, lane, topic, correlation_id, headers, payload, ?1, due_time
  FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND (at, id) <= (?2, ?3)
ON CONFLICT DO NOTHING
