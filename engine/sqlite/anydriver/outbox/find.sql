-- The message whose supplied id is ?2. ?1 now.
SELECT id, message_id, topic, correlation_id, headers, payload, created_at, due_at, retry_count, queue, priority, locked_until,
       status, next_attempt_at, owner_token, processed_at, processed_by, last_error, redrives
  FROM pawl.outbox_item WHERE id = (SELECT id FROM pawl.outbox_message WHERE message_id = ?2 AND supplied = 1)
