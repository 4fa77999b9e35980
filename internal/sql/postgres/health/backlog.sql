SELECT l.id AS lane, coalesce(sum(r.n), 0)::int8 AS n, pg_catalog.count(r.n) = 100 AS more
  FROM pg_catalog.unnest(@lanes) l(id)
  LEFT JOIN LATERAL (SELECT x.n FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at <= @began ORDER BY x.at, x.lo LIMIT 100) r ON true
 GROUP BY l.id
