-- Make messages of the first ?2 due timers. Under the write lock they are the ones
-- just read. Counted, not "up to this one": of (at, id) <= (…) the index bounds at
-- alone, and a hundred thousand may be due at the same moment. ?1 now.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
SELECT id, timer_id, supplied, lane, topic, correlation_id, headers, payload, ?1, due_time
  FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 ORDER BY at, id LIMIT ?2
ON CONFLICT (message_id) WHERE supplied = 1 DO NOTHING
