-- Newest messages first. $1 below this id, $2 topic or null, $3 status or null, $4 how many.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry_count, queue, priority, locked_until,
       status, next_attempt_at, owner_token, processed_at, processed_by, last_error, redrives
  FROM pawl.outbox_item WHERE id < $1 AND ($2::text IS NULL OR topic = $2) AND ($3::int IS NULL OR status = $3) ORDER BY id DESC LIMIT $4
