-- How much is due: lane, how many messages, and whether there are more, counting the
-- first hundred runs of each of the lanes ?2 (a JSON array). ?1 now.
SELECT value, coalesce((SELECT sum(n) FROM (SELECT r.n FROM pawl.outbox_ready r WHERE r.lane = value AND r.at <= ?1 ORDER BY r.at, r.lo LIMIT 100)), 0),
       (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_ready r WHERE r.lane = value AND r.at <= ?1 ORDER BY r.at, r.lo LIMIT 100)) = 100
  FROM json_each(?2)
