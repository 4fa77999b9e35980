-- The caller pins the plans, as those of routines are.
WITH lane AS MATERIALIZED (
  SELECT l.id, l.queue, pawl.paused(l.queue) AS paused
    FROM pawl.outbox_lane l WHERE @queues IS NULL OR l.queue = ANY (@queues) ORDER BY l.queue, l.priority LIMIT @lanes),
share AS MATERIALIZED (
  SELECT greatest(100, @runs / greatest(1, count(*))) AS runs, greatest(100, @messages / greatest(1, count(*))) AS messages FROM lane),
part AS MATERIALIZED (
  SELECT l.id, l.queue, CASE WHEN l.paused THEN 'paused' ELSE 'ready' END AS state, '-infinity'::timestamptz AS after, @began AS upto FROM lane l
  UNION ALL SELECT l.id, l.queue, 'scheduled', @began, 'infinity' FROM lane l),
claimed AS MATERIALIZED (
  SELECT c.lane, c.lo, c.n FROM pawl.outbox_claim c ORDER BY c.lo LIMIT @runs),
total AS MATERIALIZED (
  SELECT v.state, p.queue, sum(v.n) AS n, bool_or(t.runs >= s.runs) AS more
    FROM share s, part p, LATERAL (
      SELECT count(*) AS runs, coalesce(sum(x.n), 0) AS n, coalesce(sum(x.n) FILTER (WHERE x.retry > 0 AND p.state = 'scheduled'), 0) AS again FROM (
        SELECT r.n, r.retry FROM pawl.outbox_ready r WHERE r.lane = p.id AND r.at > p.after AND r.at <= p.upto ORDER BY r.at, r.lo LIMIT s.runs) x) t,
         LATERAL (SELECT p.state, t.n - t.again AS n UNION ALL SELECT 'retrying', t.again WHERE p.state = 'scheduled') v
   GROUP BY v.state, p.queue
  UNION ALL
  SELECT 'in_flight', l.queue, sum(c.n), (SELECT count(*) FROM claimed) >= @runs FROM claimed c JOIN lane l ON l.id = c.lane GROUP BY l.queue),
topic AS MATERIALIZED (
  SELECT v.state, p.queue, t.topic, count(*) AS n, min(CASE v.state WHEN 'put_back' THEN t.due ELSE t.at END) AS at
    FROM share s, part p, LATERAL (
      SELECT m.topic, r.retry, coalesce(pawl.planned(r.at), m.created_at) AS at, greatest(m.due_at, m.created_at) AS due FROM (
        SELECT x.at, x.lo, x.n, x.retry FROM pawl.outbox_ready x WHERE x.lane = p.id AND x.at > p.after AND x.at <= p.upto ORDER BY x.at, x.lo LIMIT s.runs) r,
        LATERAL (SELECT y.topic, y.created_at, y.due_at FROM pawl.outbox_message y WHERE y.id >= r.lo AND y.id < r.lo + r.n OFFSET 0) m LIMIT s.messages) t,
         LATERAL (SELECT CASE WHEN p.state <> 'scheduled' THEN p.state WHEN t.retry > 0 THEN 'retrying' WHEN t.due <= @began THEN 'put_back' ELSE p.state END AS state) v
   GROUP BY v.state, p.queue, t.topic
  UNION ALL
  SELECT 'in_flight', l.queue, t.topic, count(*), NULL
    FROM (SELECT c.lane, m.topic FROM claimed c, LATERAL (SELECT y.topic FROM pawl.outbox_message y WHERE y.id >= c.lo AND y.id < c.lo + c.n OFFSET 0) m LIMIT @messages) t
    JOIN lane l ON l.id = t.lane GROUP BY l.queue, t.topic),
aside AS MATERIALIZED (
  SELECT p.name AS topic, r.lo, r.n, r.at, count(*) OVER (PARTITION BY p.name) >= s.runs AS more
    FROM share s, (SELECT x.name, x.lane FROM pawl.outbox_pause x WHERE x.kind = 'topic' ORDER BY x.name LIMIT @lanes) p,
         LATERAL (SELECT x.at, x.lo, x.n FROM pawl.outbox_ready x WHERE x.lane = p.lane ORDER BY x.at, x.lo LIMIT s.runs) r),
failed AS MATERIALIZED (
  SELECT x.id FROM pawl.outbox_exception x WHERE x.status >= 3 AND x.status = 3 ORDER BY x.id LIMIT @messages)
SELECT t.state, t.queue, t.topic, t.n::int8 AS n, CASE WHEN t.state IN ('ready', 'paused', 'put_back') THEN pawl.micros(@began - t.at) ELSE 0 END AS micros, false AS more FROM topic t
UNION ALL
SELECT t.state, t.queue, '', (t.n - coalesce((SELECT sum(x.n) FROM topic x WHERE CASE x.state WHEN 'put_back' THEN 'scheduled' ELSE x.state END = t.state AND x.queue = t.queue), 0))::int8, 0, t.more FROM total t
UNION ALL
SELECT 'paused', l.queue, a.topic, sum(a.n)::int8, pawl.micros(@began - min(a.at)), bool_or(a.more)
  FROM aside a JOIN pawl.outbox_message m ON m.id = a.lo JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, a.topic
UNION ALL
SELECT 'failed', l.queue, m.topic, count(*), 0, (SELECT count(*) FROM failed) >= @messages
  FROM failed f JOIN pawl.outbox_message m ON m.id = f.id JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, m.topic
