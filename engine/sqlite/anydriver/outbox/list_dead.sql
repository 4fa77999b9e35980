-- Failed (3) or discarded (4) messages. ?1 now, ?2 below this id, ?3 topic or null, ?4 status, ?5 how many.
SELECT i.id, i.message_id, i.topic, i.correlation_id, i.headers, i.payload, i.created_at, i.due_at, i.retry_count, i.queue, i.priority, i.locked_until,
       i.status, i.next_attempt_at, i.owner_token, i.processed_at, i.processed_by, i.last_error, i.redrives
  FROM pawl.outbox_exception e JOIN pawl.outbox_item i ON i.id = e.id
 WHERE e.status = ?4 AND e.status >= 3 AND e.id < ?2 AND (?3 IS NULL OR i.topic = ?3) ORDER BY e.id DESC LIMIT ?5
