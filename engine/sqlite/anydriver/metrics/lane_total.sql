-- How many runs, of how many messages, are among the first ?5 runs of lane ?2 that
-- may be claimed after ?3 and by ?4. ?1 now.
SELECT count(*), coalesce(sum(n), 0) FROM (
  SELECT n FROM pawl.outbox_ready WHERE lane = ?2 AND at > ?3 AND at <= ?4 ORDER BY at, lo LIMIT ?5)
