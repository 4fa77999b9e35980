-- Under the write lock the first due timers are the ones just read. It counts them instead
-- of comparing (at, id) <= (…), for which the index bounds only at: a hundred thousand may be
-- due at the same time.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
SELECT id, timer_id, supplied, lane, topic, correlation_id, headers, payload, @now, due_time
  FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now ORDER BY at, id LIMIT @n
ON CONFLICT (message_id) WHERE supplied = 1 DO NOTHING
