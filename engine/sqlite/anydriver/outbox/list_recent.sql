-- Newest messages first. ?1 now, ?2 below this id, ?3 topic or null, ?4 status or null, ?5 how many.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry_count, queue, priority, locked_until,
       status, next_attempt_at, owner_token, processed_at, processed_by, last_error, redrives
  FROM pawl.outbox_item WHERE id < ?2 AND (?3 IS NULL OR topic = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY id DESC LIMIT ?5
