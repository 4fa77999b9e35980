-- Joins of status $2, newest first, with what their members say; at most $4
-- members of a join are looked at. $1 below this id, $3 how many. The last column
-- is how many messages of a pending join are settled and not counted.
SELECT j.join_id, j.expected_steps, j.completed_steps, j.failed_steps, m.n, m.completed, m.failed, s.n
  FROM (SELECT * FROM pawl.outbox_join WHERE status = $2 AND join_id < $1 ORDER BY join_id DESC LIMIT $3) j
 CROSS JOIN LATERAL (
  SELECT count(*) AS n, count(*) FILTER (WHERE x.status = 1) AS completed, count(*) FILTER (WHERE x.status = 2) AS failed
    FROM (SELECT y.status FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT $4) x) m
 CROSS JOIN LATERAL (
  SELECT count(*) AS n
    FROM (SELECT y.id FROM pawl.outbox_join_member y WHERE j.status = 0 AND y.join_id = j.join_id AND y.status = 0 LIMIT $4) x
   WHERE EXISTS (SELECT FROM pawl.outbox_done d WHERE d.lo = (SELECT max(z.lo) FROM pawl.outbox_done z WHERE z.lo <= x.id) AND d.lo + d.n > x.id)
      OR EXISTS (SELECT FROM pawl.outbox_exception e WHERE e.id = x.id AND e.status >= 3)) s
 ORDER BY j.join_id DESC
