SELECT coalesce(sum(x.n), 0)::bigint FROM (
  (SELECT r.n FROM pawl.outbox_lane l JOIN pawl.outbox_ready r ON r.lane = l.id AND r.at <= now()
    WHERE l.queue IN ('default') AND l.kind <> 2
      AND NOT EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = l.queue) LIMIT 10000)
  UNION ALL
  (SELECT c.n FROM pawl.outbox_lane l JOIN pawl.outbox_claim c ON c.lane = l.id
    WHERE l.queue IN ('default') LIMIT 10000)) x
