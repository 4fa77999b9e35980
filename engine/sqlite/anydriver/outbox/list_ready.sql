-- Messages waiting to be claimed: due ones or, with ?4, scheduled ones. Looks
-- at the newest 10 000 runs. ?1 now, ?2 below this id, ?3 topic or null, ?4 scheduled, ?5 how many.
SELECT i.id, i.message_id, i.topic, i.correlation_id, i.headers, i.payload, i.created_at, i.due_at, i.retry_count, i.queue, i.priority, i.locked_until,
       i.status, i.next_attempt_at, i.owner_token, i.processed_at, i.processed_by, i.last_error, i.redrives
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < ?2 AND (at > ?1) = ?4 ORDER BY lo DESC LIMIT 10000) r
  JOIN pawl.outbox_item i ON i.id >= r.lo AND i.id < r.lo + r.n
 WHERE i.id < ?2 AND (?3 IS NULL OR i.topic = ?3) ORDER BY i.id DESC LIMIT ?5
