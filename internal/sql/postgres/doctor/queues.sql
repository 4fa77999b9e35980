SELECT o.lane, coalesce(sum(r.n), 0)::int8 AS n, coalesce(min((SELECT m.topic FROM pawl.outbox_message m WHERE m.id = r.lo)), '') AS topic
  FROM pawl.outbox_orphans() o(lane) LEFT JOIN LATERAL (SELECT x.lo, x.n FROM pawl.outbox_ready x WHERE x.lane = o.lane ORDER BY x.at, x.lo LIMIT @look) r ON true
 GROUP BY o.lane ORDER BY o.lane
