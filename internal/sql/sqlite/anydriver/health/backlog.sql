SELECT value AS lane, coalesce((SELECT sum(n) FROM (SELECT r.n FROM pawl.outbox_ready r WHERE r.lane = value AND r.at <= @now ORDER BY r.at, r.lo LIMIT 100)), 0) AS n,
       (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = value AND r.at <= @now ORDER BY r.at, r.lo LIMIT 100)) = 100 AS more
  FROM json_each(@lanes)
