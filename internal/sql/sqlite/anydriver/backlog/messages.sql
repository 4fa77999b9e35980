-- Topics are read of the first messages, by position: look is how many of a run and those behind it.
-- Moments are 0 for what is due, 1 for later, 2 for what is claimed, 3 for later after a failed attempt, 4 for later although it was due.
WITH lane AS MATERIALIZED (
  SELECT l.id, l.queue, pawl.paused(l.queue) AS paused
    FROM pawl.outbox_lane l WHERE @queues IS NULL OR l.queue IN (SELECT value FROM json_each(@queues)) ORDER BY l.queue, l.priority LIMIT @lanes),
share AS MATERIALIZED (
  SELECT max(100, @runs / max(1, count(*))) AS runs, max(100, @messages / max(1, count(*))) AS messages FROM lane),
part AS MATERIALIZED (
  SELECT m.lane, m.moment, m.after, x.lo AS last, coalesce(x.at, m.upto) AS upto
    FROM (SELECT id AS lane, 0 AS moment, -9223372036854775808 AS after, @now AS upto FROM lane UNION ALL SELECT id, 1, @now, 9223372036854775807 FROM lane) m
    LEFT JOIN pawl.outbox_ready x ON x.lo = (
      SELECT r.lo FROM pawl.outbox_ready r WHERE r.lane = m.lane AND r.at > m.after AND r.at <= m.upto ORDER BY r.at, r.lo LIMIT 1 OFFSET (SELECT runs FROM share) - 1)),
run AS MATERIALIZED (
  SELECT part.lane, iif(part.moment = 1 AND r.retry > 0, 3, part.moment) AS moment, r.at, r.lo, r.n, (SELECT messages FROM share) + r.n - sum(r.n) OVER (PARTITION BY part.lane, part.moment ORDER BY r.at, r.lo ROWS UNBOUNDED PRECEDING) AS look, part.last IS NOT NULL AS more
    FROM part CROSS JOIN pawl.outbox_ready r
   WHERE r.lane = part.lane AND r.at > part.after AND (r.at, r.lo) <= (part.upto, coalesce(part.last, 9223372036854775807))
  UNION ALL
  SELECT lane, 2, at, lo, n, @messages + n - sum(n) OVER (ORDER BY lo ROWS UNBOUNDED PRECEDING), count(*) OVER () >= @runs FROM (SELECT * FROM pawl.outbox_claim ORDER BY lo LIMIT @runs)),
topic AS MATERIALIZED (
  SELECT run.lane, iif(run.moment = 1 AND max(coalesce(m.due_at, m.created_at), m.created_at) <= @now, 4, run.moment) AS moment, m.topic, count(*) AS n, min(iif(run.moment = 1, max(coalesce(m.due_at, m.created_at), m.created_at), coalesce(pawl.planned(run.at), m.created_at))) AS at
    FROM run CROSS JOIN pawl.outbox_message m WHERE run.look > 0 AND m.id >= run.lo AND m.id < run.lo + min(run.n, run.look) GROUP BY 1, 2, 3),
rest AS MATERIALIZED (SELECT lane, moment, sum(max(0, n - max(0, look))) AS n, max(more) AS more FROM run GROUP BY lane, moment
  UNION ALL SELECT part.lane, json_each.value, 0, true FROM part CROSS JOIN json_each('[1,3]') WHERE part.moment = 1 AND part.last IS NOT NULL),
aside AS MATERIALIZED (
  SELECT p.name AS topic, r.lo, r.n, r.at, count(*) OVER (PARTITION BY p.name) >= (SELECT runs FROM share) AS more
    FROM (SELECT x.name, x.lane FROM pawl.outbox_pause x WHERE x.kind = 'topic' ORDER BY x.name LIMIT @lanes) p CROSS JOIN pawl.outbox_ready r
   WHERE r.lo IN (SELECT x.lo FROM pawl.outbox_ready x WHERE x.lane = p.lane ORDER BY x.at, x.lo LIMIT (SELECT runs FROM share))),
failed AS MATERIALIZED (
  SELECT x.id FROM pawl.outbox_exception x INDEXED BY pawl.outbox_exception_dead WHERE x.status >= 3 AND x.status = 3 ORDER BY x.id LIMIT @failed)
SELECT CASE t.moment WHEN 1 THEN 'scheduled' WHEN 2 THEN 'in_flight' WHEN 3 THEN 'retrying' WHEN 4 THEN 'put_back' ELSE iif(l.paused, 'paused', 'ready') END AS state, l.queue, t.topic, t.n, iif(t.moment IN (0, 4) AND t.topic <> '', @now - t.at, 0) AS micros, t.more
  FROM (SELECT lane, moment, topic, n, at, false AS more FROM topic UNION ALL SELECT lane, moment, '', n, NULL, more FROM rest) t JOIN lane l ON l.id = t.lane
UNION ALL
SELECT 'paused', l.queue, aside.topic, sum(aside.n), @now - min(aside.at), max(aside.more)
  FROM aside CROSS JOIN pawl.outbox_message m ON m.id = aside.lo CROSS JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, aside.topic
UNION ALL
SELECT 'failed', l.queue, m.topic, count(*), 0, (SELECT count(*) FROM failed) >= @failed
  FROM failed CROSS JOIN pawl.outbox_message m ON m.id = failed.id CROSS JOIN pawl.outbox_lane l ON l.id = m.lane GROUP BY l.queue, m.topic
