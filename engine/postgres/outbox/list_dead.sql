-- Failed (3) or discarded (4) messages.
-- $1 below this id, $2 not below this one, $3 topic or null, $4 status, $5 how many. Or null: $6 queue,
-- $7 correlation id, $8 part of the last error, $9 created longer ago than this, $10 not longer ago, $11 headers it has, as a JSON object.
SELECT i.id, i.message_id, i.topic, i.correlation_id, i.headers, i.payload, i.created_at, i.due_at, i.retry_count, i.queue, i.priority, i.locked_until,
       i.status, i.next_attempt_at, i.owner_token, i.processed_at, i.processed_by, i.last_error, i.redrives
  FROM pawl.outbox_exception e JOIN pawl.outbox_item i ON i.id = e.id
 WHERE e.status = $4 AND e.status >= 3 AND e.id < $1 AND e.id >= $2
   AND ($3::text IS NULL OR i.topic = $3) AND ($6::text IS NULL OR i.queue = $6) AND ($7::text IS NULL OR i.correlation_id = $7)
   AND ($8::text IS NULL OR strpos(i.last_error, $8) > 0)
   AND ($9::interval IS NULL OR i.created_at < clock_timestamp() - $9) AND ($10::interval IS NULL OR i.created_at >= clock_timestamp() - $10)
   AND ($11::text IS NULL OR pawl.outbox_headers(i.headers) @> pawl.outbox_headers($11))
 ORDER BY e.id DESC LIMIT $5
