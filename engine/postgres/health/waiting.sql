-- What could be taken now and waits: kind, queue, lane, and of the first in line at
-- and id, how long it has been due in microseconds, and its topic. Kinds are "queue", a
-- row for each lane, nothing of paused queues and topics; "timers"; "jobs". It is a
-- probe for each lane, however much waits there.
SELECT 'queue', l.queue, l.id, (extract(epoch FROM h.at) * 1000000.0)::int8, h.lo, (extract(epoch FROM now() - h.at) * 1000000.0)::int8, h.topic
  FROM pawl.outbox_lane l
 CROSS JOIN LATERAL (
   SELECT r.at, r.lo, t.topic FROM (
     SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= now() ORDER BY r.at, r.lo LIMIT 50) r
    CROSS JOIN LATERAL (
      SELECT m.topic FROM pawl.outbox_message m WHERE m.id >= r.lo AND m.id < r.lo + least(r.n, 50)
         AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = m.topic AND NOT p.ending) LIMIT 1) t
    ORDER BY r.at, r.lo LIMIT 1) h
 WHERE NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = l.queue)
UNION ALL (
SELECT 'timers', '', 0, (extract(epoch FROM t.at) * 1000000.0)::int8, t.id, (extract(epoch FROM now() - t.at) * 1000000.0)::int8, t.topic
  FROM pawl.timer t WHERE t.status = 0 AND t.at <= now() ORDER BY t.at, t.id LIMIT 1)
UNION ALL (
SELECT 'jobs', '', 0, (extract(epoch FROM j.due_at) * 1000000.0)::int8, 0, (extract(epoch FROM now() - j.due_at) * 1000000.0)::int8, j.name
  FROM pawl.job j WHERE j.due_at IS NOT NULL AND isfinite(j.due_at) AND j.enabled AND j.due_at <= now() ORDER BY j.due_at LIMIT 1)
