-- The caller pins the plans, as those of routines are. Topics are read of the first messages: before is how many stand
-- before a run. They are read by blocks of 128 positions: to read each message by its position would be as many descents of the index.
WITH lane AS MATERIALIZED (
  SELECT l.id, l.queue, pawl.paused(l.queue) AS paused
    FROM pawl.outbox_lane l WHERE @queues IS NULL OR l.queue = ANY (@queues) ORDER BY l.queue, l.priority LIMIT @lanes),
share AS MATERIALIZED (
  SELECT greatest(100, @runs / greatest(1, count(*))) AS runs, greatest(100, @messages / greatest(1, count(*))) AS messages FROM lane),
part AS MATERIALIZED (
  SELECT l.id, l.queue, CASE WHEN l.paused THEN 'paused' ELSE 'ready' END AS state, '-infinity'::timestamptz AS after, @began AS upto FROM lane l
  UNION ALL SELECT l.id, l.queue, 'scheduled', @began, 'infinity' FROM lane l),
run AS MATERIALIZED (
  SELECT p.state, p.id AS lane, r.at, r.lo, r.n, r.retry, s.messages - r.before AS look, r.number >= s.runs AS more
    FROM share s, part p, LATERAL (
      SELECT x.at, x.lo, x.n, x.retry, sum(x.n) OVER w - x.n AS before, row_number() OVER w AS number
        FROM (SELECT y.at, y.lo, y.n, y.retry FROM pawl.outbox_ready y WHERE y.lane = p.id AND y.at > p.after AND y.at <= p.upto ORDER BY y.at, y.lo LIMIT s.runs) x
      WINDOW w AS (ORDER BY x.at, x.lo ROWS UNBOUNDED PRECEDING)) r
  UNION ALL
  SELECT 'in_flight', c.lane, NULL, c.lo, c.n, 0, @messages - sum(c.n) OVER w + c.n, count(*) OVER () >= @runs
    FROM (SELECT x.lane, x.lo, x.n FROM pawl.outbox_claim x ORDER BY x.lo LIMIT @runs) c
  WINDOW w AS (ORDER BY c.lo ROWS UNBOUNDED PRECEDING)),
total AS MATERIALIZED (
  SELECT r.state, l.queue, sum(r.n) AS n, bool_or(r.more) AS more
    FROM (SELECT CASE WHEN x.state = 'scheduled' AND x.retry > 0 THEN 'retrying' ELSE x.state END AS state, x.lane, x.n, x.more FROM run x
          UNION ALL SELECT v.state, x.lane, 0, true FROM run x, pg_catalog.unnest('{scheduled,retrying}'::text[]) AS v (state) WHERE x.state = 'scheduled' AND x.more) r
    JOIN lane l ON l.id = r.lane GROUP BY r.state, l.queue),
block AS MATERIALIZED (
  SELECT r.state, r.lane, min(r.lo) AS lo, max(r.lo + least(r.n, r.look)) AS hi, pg_catalog.array_agg(r.lo ORDER BY r.lo) AS los, pg_catalog.array_agg(r.lo + least(r.n, r.look) ORDER BY r.lo) AS his,
         pg_catalog.array_agg(coalesce(r.at, '-infinity') ORDER BY r.lo) AS ats, pg_catalog.array_agg(r.retry ORDER BY r.lo) AS retries
    FROM run r WHERE r.look > 0 GROUP BY r.state, r.lane, r.lo / 128),
topic AS MATERIALIZED (
  SELECT v.state, l.queue, m.topic, count(*) AS n, min(CASE v.state WHEN 'put_back' THEN v.due ELSE coalesce(pawl.planned(m.at), m.created_at) END) AS at
    FROM (SELECT b.state, b.lane, y.topic, y.created_at, y.due_at, b.ats[y.k] AS at, b.retries[y.k] AS retry
            FROM block b, LATERAL (
              SELECT x.id, x.topic, x.created_at, x.due_at, pg_catalog.width_bucket(x.id, b.los) AS k FROM pawl.outbox_message x WHERE x.id >= b.lo AND x.id < b.hi OFFSET 0) y
           WHERE y.id < b.his[y.k]) m
    JOIN lane l ON l.id = m.lane, LATERAL (
      SELECT CASE WHEN m.state <> 'scheduled' THEN m.state WHEN m.retry > 0 THEN 'retrying' WHEN greatest(m.due_at, m.created_at) <= @began THEN 'put_back' ELSE m.state END AS state,
             greatest(m.due_at, m.created_at) AS due) v
   GROUP BY v.state, l.queue, m.topic),
aside AS MATERIALIZED (
  SELECT p.name AS topic, r.lo, r.n, r.at, count(*) OVER (PARTITION BY p.name) >= s.runs AS more
    FROM share s, (SELECT x.name, x.lane FROM pawl.outbox_pause x WHERE x.kind = 'topic' ORDER BY x.name LIMIT @lanes) p,
         LATERAL (SELECT x.at, x.lo, x.n FROM pawl.outbox_ready x WHERE x.lane = p.lane ORDER BY x.at, x.lo LIMIT s.runs) r),
failed AS MATERIALIZED (
  SELECT x.id FROM pawl.outbox_exception x WHERE x.status >= 3 AND x.status = 3 ORDER BY x.id LIMIT @failed)
SELECT t.state, t.queue, t.topic, t.n::int8 AS n, CASE WHEN t.state IN ('ready', 'paused', 'put_back') THEN pawl.micros(@began - t.at) ELSE 0 END AS micros, false AS more FROM topic t
UNION ALL
SELECT t.state, t.queue, '', t.n - coalesce((SELECT sum(x.n)::int8 FROM topic x WHERE CASE x.state WHEN 'put_back' THEN 'scheduled' ELSE x.state END = t.state AND x.queue = t.queue), 0), 0, t.more FROM total t
UNION ALL
SELECT 'paused', l.queue, a.topic, sum(a.n)::int8, pawl.micros(@began - min(a.at)), bool_or(a.more)
  FROM aside a pawl.join_row(pawl.outbox_message, m, m.id = a.lo) JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, a.topic
UNION ALL
SELECT 'failed', l.queue, m.topic, sum(m.n)::int8, 0, (SELECT count(*) FROM failed) >= @failed
  FROM (SELECT x.lane, x.topic, count(*) AS n FROM failed f pawl.join_row(pawl.outbox_message, x, x.id = f.id) GROUP BY x.lane, x.topic) m JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, m.topic
