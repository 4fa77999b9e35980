-- The caller pins the plans, as those of routines are.
WITH run AS MATERIALIZED (
  (SELECT r.lo, r.n FROM pawl.outbox_ready r ORDER BY r.lo DESC LIMIT @runs)
  UNION ALL (SELECT c.lo, c.n FROM pawl.outbox_claim c ORDER BY c.lo DESC LIMIT @runs)),
message AS MATERIALIZED (
  SELECT m.lane, m.topic, m.created_at, m.minute FROM (SELECT x.lo, x.n FROM run x ORDER BY x.lo DESC) r, LATERAL (
    SELECT y.lane, y.topic, pawl.finite(y.created_at) AS created_at, pawl.minute(y.created_at) AS minute FROM pawl.outbox_message y WHERE y.id >= r.lo AND y.id < r.lo + r.n OFFSET 0) m LIMIT @messages)
SELECT l.queue, m.topic, m.minute, count(*) AS n, coalesce(pawl.micros(@began - min(m.created_at)), 0) AS micros, (SELECT count(*) >= @runs FROM run) OR (SELECT count(*) >= @messages FROM message) AS more
  FROM message m JOIN pawl.outbox_lane l ON l.id = m.lane
 WHERE m.minute >= @from AND (@queue IS NULL OR l.queue = @queue) AND (@topic IS NULL OR m.topic = @topic)
 GROUP BY l.queue, m.topic, m.minute
