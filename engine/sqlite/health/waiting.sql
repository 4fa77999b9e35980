-- What could be taken now and waits: kind, queue, lane, and of the first in line at
-- and id, how long it has been due in microseconds, and its topic; how many there are,
-- and whether there are more, only if that is ?2 or longer. Kinds are "queue", a row
-- for each lane, nothing of paused queues and topics; "timers"; "jobs". The cost does
-- not grow with what waits: a probe for each lane, and of what is overdue the first
-- hundred runs. ?1 now.
WITH first AS MATERIALIZED (
  SELECT l.queue, l.id AS lane, (
    SELECT f.lo FROM (SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= ?1 ORDER BY r.at, r.lo LIMIT 50) f
     WHERE EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id >= f.lo AND m.id < f.lo + min(f.n, 50)
       AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending)) LIMIT 1) AS lo
    FROM pawl.outbox_lane l
   WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = l.queue))
SELECT 'queue', first.queue, first.lane, r.at, r.lo, ?1 - r.at,
       (SELECT m.topic FROM pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + min(r.n, 50)
          AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending) LIMIT 1),
       CASE WHEN r.at <= ?1 - ?2 THEN (SELECT sum(n) FROM (SELECT x.n FROM pawl.outbox_ready x WHERE x.lane = first.lane AND x.at <= ?1 ORDER BY x.at, x.lo LIMIT 100)) ELSE 0 END,
       r.at <= ?1 - ?2 AND (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_ready x WHERE x.lane = first.lane AND x.at <= ?1 ORDER BY x.at, x.lo LIMIT 100)) = 100
  FROM first CROSS JOIN pawl.outbox_ready r ON r.lo = first.lo
UNION ALL
SELECT 'timers', '', 0, t.at, t.id, ?1 - t.at, t.topic, t.n, t.n = 1000 FROM (
  SELECT at, id, topic, (SELECT count(*) FROM (SELECT 1 FROM pawl.timer x INDEXED BY pawl.timer_pending WHERE x.status = 0 AND x.at <= ?1 AND t.at <= ?1 - ?2 LIMIT 1000)) AS n
    FROM pawl.timer t INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= ?1 ORDER BY at, id LIMIT 1) t
UNION ALL
SELECT 'jobs', '', 0, j.due_at, 0, ?1 - j.due_at, j.name, j.n, j.n = 1000 FROM (
  SELECT due_at, name, (SELECT count(*) FROM (SELECT 1 FROM pawl.job x INDEXED BY pawl.job_due WHERE x.due_at IS NOT NULL AND x.enabled AND x.due_at <= ?1 AND j.due_at <= ?1 - ?2 LIMIT 1000)) AS n
    FROM pawl.job j INDEXED BY pawl.job_due WHERE due_at IS NOT NULL AND enabled AND due_at <= ?1 ORDER BY due_at LIMIT 1) j
