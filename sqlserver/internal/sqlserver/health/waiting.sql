SELECT N'queue' AS kind, l.queue, l.id AS lane, pawl.epoch(h.at) AS at, h.lo AS id, pawl.elapsed(h.since, @began) AS micros, h.topic
  FROM pawl.outbox_lane l
 CROSS APPLY (
   SELECT TOP (1) r.at, coalesce(pawl.planned(r.at), t.created_at) AS since, r.lo, t.topic
     FROM (SELECT TOP (50) x.at, x.lo, x.n FROM pawl.outbox_ready x pawl.unlocked() WHERE x.lane = l.id AND x.at <= @began ORDER BY x.at, x.lo) r
    CROSS APPLY (
      SELECT TOP (1) m.topic, m.created_at FROM pawl.outbox_message m pawl.unlocked() WHERE m.id >= r.lo AND m.id < r.lo + CASE WHEN r.n < 50 THEN r.n ELSE 50 END
         AND NOT EXISTS (SELECT 1 FROM pawl.outbox_pause p WHERE p.kind = N'topic' AND pawl.exactly(p.name, m.topic) AND p.ending = 0)) t
    ORDER BY r.at, r.lo) h
 WHERE l.kind <> 2 AND NOT pawl.paused(l.queue)
UNION ALL
SELECT N'timers', N'', 0, pawl.epoch(t.at), t.id, pawl.elapsed(t.at, @began), t.topic
  FROM (SELECT TOP (1) x.at, x.id, x.topic FROM pawl.timer x pawl.unlocked() WHERE x.status = 0 AND x.at <= @began ORDER BY x.at, x.id) t
UNION ALL
SELECT N'jobs', N'', 0, pawl.epoch(j.due_at), 0, pawl.elapsed(j.due_at, @began), j.name
  FROM (SELECT TOP (1) x.due_at, x.name FROM pawl.job x pawl.unlocked() WHERE x.due_at IS NOT NULL AND x.enabled = 1 AND x.due_at <= @began ORDER BY x.due_at) j
