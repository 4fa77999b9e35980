-- Lanes that nobody knows (see outbox_orphans): lane, how many messages are in their
-- first $1 runs, and the topic of one.
SELECT o.lane, coalesce(sum(r.n), 0)::int8, coalesce(min((SELECT m.topic FROM pawl.outbox_message m WHERE m.id = r.lo)), '')
  FROM pawl.outbox_orphans() o(lane) LEFT JOIN LATERAL (SELECT x.lo, x.n FROM pawl.outbox_ready x WHERE x.lane = o.lane ORDER BY x.at, x.lo LIMIT $1) r ON true
 GROUP BY o.lane ORDER BY o.lane
