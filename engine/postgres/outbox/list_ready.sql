-- Messages waiting to be claimed: due ones or, with $4, scheduled ones. list_ready_floor leaves no more than 10 000 runs.
-- $1 below this id, $2 not below this one, $3 topic or null, $4 scheduled, $5 how many. Or null: $6 queue,
-- $7 correlation id, $8 part of the last error, $9 created longer ago than this, $10 not longer ago, $11 headers it has, as a JSON object.
SELECT i.id, i.message_id, i.topic, i.correlation_id, i.headers, i.payload, i.created_at, i.due_at, i.retry_count, i.queue, i.priority, i.locked_until,
       i.status, i.next_attempt_at, i.owner_token, i.processed_at, i.processed_by, i.last_error, i.redrives
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < $1 AND lo >= $2 AND (at > clock_timestamp()) = $4 ORDER BY lo DESC LIMIT 10000) r
  JOIN pawl.outbox_item i ON i.id >= r.lo AND i.id < r.lo + r.n
 WHERE i.id < $1
   AND ($3::text IS NULL OR i.topic = $3) AND ($6::text IS NULL OR i.queue = $6) AND ($7::text IS NULL OR i.correlation_id = $7)
   AND ($8::text IS NULL OR strpos(i.last_error, $8) > 0)
   AND ($9::interval IS NULL OR i.created_at < clock_timestamp() - $9) AND ($10::interval IS NULL OR i.created_at >= clock_timestamp() - $10)
   AND ($11::text IS NULL OR pawl.outbox_headers(i.headers) @> pawl.outbox_headers($11))
 ORDER BY i.id DESC LIMIT $5
