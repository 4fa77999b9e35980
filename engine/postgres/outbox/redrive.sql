-- Give failed messages a fresh start, oldest first. $1 ids or null, $2 topic or null, $3 how many.
WITH e AS (
  UPDATE pawl.outbox_exception e SET status = 0, retry_count = 0, next_attempt_at = clock_timestamp(), redrives = e.redrives + 1, updated_at = clock_timestamp()
   WHERE e.id = ANY (ARRAY(
     SELECT x.id FROM pawl.outbox_exception x JOIN pawl.outbox_message m ON m.id = x.id
      WHERE x.status >= 3 AND x.status = 3 AND ($1::int8[] IS NULL OR x.id = ANY ($1)) AND ($2::text IS NULL OR m.topic = $2)
      ORDER BY x.id LIMIT $3 FOR UPDATE OF x)) AND e.status = 3 RETURNING e.id),
m AS (
  SELECT e.id, m.lane, l.queue FROM e JOIN pawl.outbox_message m ON m.id = e.id JOIN pawl.outbox_lane l ON l.id = m.lane),
r AS (
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, clock_timestamp(), m.id, 1 FROM m RETURNING lo)
SELECT (SELECT count(*) FROM r)
 WHERE pawl.outbox_wake(ARRAY(SELECT DISTINCT m.queue FROM m))
