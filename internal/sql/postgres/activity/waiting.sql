-- The caller pins the plans, as those of routines are. Messages are read by blocks of 128 positions, as those of backlog/messages.
WITH run AS MATERIALIZED (
  (SELECT r.lo, r.n FROM pawl.outbox_ready r ORDER BY r.lo DESC LIMIT @runs)
  UNION ALL (SELECT c.lo, c.n FROM pawl.outbox_claim c ORDER BY c.lo DESC LIMIT @runs)),
block AS MATERIALIZED (
  SELECT min(r.lo) AS lo, max(r.hi) AS hi, pg_catalog.array_agg(r.lo ORDER BY r.lo) AS los, pg_catalog.array_agg(r.hi ORDER BY r.lo) AS his
    FROM (SELECT x.lo, x.lo + least(x.n, @messages - sum(x.n) OVER (ORDER BY x.lo DESC ROWS UNBOUNDED PRECEDING) + x.n) AS hi FROM run x) r WHERE r.hi > r.lo GROUP BY r.lo / 128),
message AS MATERIALIZED (
  SELECT m.lane, m.topic, m.created_at, m.minute FROM block b, LATERAL (
    SELECT y.id, y.lane, y.topic, pawl.finite(y.created_at) AS created_at, pawl.minute(y.created_at) AS minute, pg_catalog.width_bucket(y.id, b.los) AS k
      FROM pawl.outbox_message y WHERE y.id >= b.lo AND y.id < b.hi OFFSET 0) m WHERE m.id < b.his[m.k])
SELECT l.queue, m.topic, m.minute, count(*) AS n, coalesce(pawl.micros(@began - min(m.created_at)), 0) AS micros, (SELECT count(*) >= @runs FROM run) OR (SELECT count(*) >= @messages FROM message) AS more
  FROM message m JOIN pawl.outbox_lane l ON l.id = m.lane
 WHERE m.minute >= @from AND (@queue IS NULL OR l.queue = @queue) AND (@topic IS NULL OR m.topic = @topic)
 GROUP BY l.queue, m.topic, m.minute
