-- Messages waiting to be claimed: due ones or, with ?5, scheduled ones. list_ready_floor leaves no more than 10 000 runs.
-- ?1 now, ?2 below this id, ?3 not below this one, ?4 topic or null, ?5 scheduled, ?6 how many. Or null: ?7 queue,
-- ?8 correlation id, ?9 part of the last error, ?10 created longer ago than this, ?11 not longer ago, ?12 headers it has, as a JSON object.
SELECT i.id, i.message_id, i.topic, i.correlation_id, i.headers, i.payload, i.created_at, i.due_at, i.retry_count, i.queue, i.priority, i.locked_until,
       i.status, i.next_attempt_at, i.owner_token, i.processed_at, i.processed_by, i.last_error, i.redrives
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < ?2 AND lo >= ?3 AND (at > ?1) = ?5 ORDER BY lo DESC LIMIT 10000) r
  JOIN pawl.outbox_item i ON i.id >= r.lo AND i.id < r.lo + r.n
 WHERE i.id < ?2
   AND (?4 IS NULL OR i.topic = ?4) AND (?7 IS NULL OR i.queue = ?7) AND (?8 IS NULL OR i.correlation_id = ?8)
   AND (?9 IS NULL OR instr(i.last_error, ?9) > 0)
   AND (?10 IS NULL OR i.created_at < ?1 - ?10) AND (?11 IS NULL OR i.created_at >= ?1 - ?11)
   AND (?12 IS NULL OR CASE WHEN json_valid(i.headers) THEN NOT EXISTS (
         SELECT 1 FROM json_each(?12) w WHERE NOT EXISTS (SELECT 1 FROM json_each(i.headers) h WHERE h.key = w.key AND h.type = 'text' AND h.value = w.value)) END)
 ORDER BY i.id DESC LIMIT ?6
