-- Give failed messages up, oldest first. $1 ids or null, $2 topic or null, $3 how many.
WITH e AS (
  UPDATE pawl.outbox_exception e SET status = 4, next_attempt_at = NULL, updated_at = clock_timestamp()
   WHERE e.id = ANY (ARRAY(
     SELECT x.id FROM pawl.outbox_exception x JOIN pawl.outbox_message m ON m.id = x.id
      WHERE x.status >= 3 AND x.status = 3 AND ($1::int8[] IS NULL OR x.id = ANY ($1)) AND ($2::text IS NULL OR m.topic = $2)
      ORDER BY x.id LIMIT $3 FOR UPDATE OF x)) AND e.status = 3 RETURNING e.id)
SELECT count(*) FROM e
