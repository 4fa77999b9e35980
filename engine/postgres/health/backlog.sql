-- How much is due: lane, how many messages, and whether there are more, counting the
-- first hundred runs of each of the lanes $1.
SELECT l.id, coalesce(sum(r.n), 0)::int8, pg_catalog.count(r.n) = 100
  FROM pg_catalog.unnest($1::bigint[]) l(id)
  LEFT JOIN LATERAL (SELECT x.n FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at <= now() ORDER BY x.at, x.lo LIMIT 100) r ON true
 GROUP BY l.id
