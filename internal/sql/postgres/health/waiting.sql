SELECT 'queue' AS kind, l.queue, l.id AS lane, pawl.micros(h.at) AS at, h.lo AS id, pawl.micros(@began - h.since) AS micros, h.topic
  FROM pawl.outbox_lane l
 CROSS JOIN LATERAL (
   SELECT r.at, coalesce(pawl.planned(r.at), t.created_at) AS since, r.lo, t.topic FROM (
     SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= @began ORDER BY r.at, r.lo LIMIT 50) r
    CROSS JOIN LATERAL (
      SELECT m.topic, m.created_at FROM pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + least(r.n, 50)
         AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending) LIMIT 1) t
    ORDER BY r.at, r.lo LIMIT 1) h
 WHERE l.kind <> 2 AND NOT pawl.paused(l.queue)
UNION ALL (
SELECT 'timers', '', 0, pawl.micros(greatest(t.at, 'epoch')), t.id, pawl.micros(@began - greatest(t.at, 'epoch')), t.topic
  FROM pawl.timer t WHERE t.status = 0 AND t.at <= @began ORDER BY t.at, t.id LIMIT 1)
UNION ALL (
SELECT 'jobs', '', 0, pawl.micros(greatest(j.due_at, 'epoch')), 0, pawl.micros(@began - greatest(j.due_at, 'epoch')), j.name
  FROM pawl.job j WHERE j.due_at IS NOT NULL AND j.enabled AND j.due_at <= @began ORDER BY j.due_at LIMIT 1)
