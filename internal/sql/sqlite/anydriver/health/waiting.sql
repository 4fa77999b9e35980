WITH first AS MATERIALIZED (
  SELECT l.queue, l.id AS lane, (
    SELECT f.lo FROM (SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= @now ORDER BY r.at, r.lo LIMIT 50) f
     WHERE EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id >= f.lo AND m.id < f.lo + min(f.n, 50)
       AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending)) LIMIT 1) AS lo
    FROM pawl.outbox_lane l
   WHERE l.kind <> 2 AND NOT pawl.paused(l.queue))
SELECT 'queue' AS kind, first.queue, first.lane, r.at, r.lo AS id, @now - coalesce(pawl.planned(r.at), (SELECT m.created_at FROM pawl.outbox_message m WHERE m.id = r.lo)) AS micros,
       (SELECT m.topic FROM pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + min(r.n, 50)
          AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending) LIMIT 1) AS topic
  FROM first CROSS JOIN pawl.outbox_ready r ON r.lo = first.lo
UNION ALL SELECT * FROM (
SELECT 'timers', '', 0, at, id, @now - max(0, at), topic FROM pawl.timer INDEXED BY pawl.timer_pending WHERE status = 0 AND at <= @now ORDER BY at, id LIMIT 1)
UNION ALL SELECT * FROM (
SELECT 'jobs', '', 0, due_at, 0, @now - max(0, due_at), name FROM pawl.job INDEXED BY pawl.job_due
 WHERE due_at IS NOT NULL AND enabled AND due_at <= @now ORDER BY due_at LIMIT 1)
