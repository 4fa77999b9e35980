-- The waits that are parked without a deadline, by position: $1 behind this one, $2 how
-- many at most. The second column is the join of a wait whose join is over, or null.
-- They are one stretch of the index in each lane: what waits for other reasons is
-- not looked at.
SELECT p.lo, (SELECT w.join_id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = p.lo AND j.status <> 0)
  FROM (SELECT r.lo FROM pawl.outbox_lane l CROSS JOIN LATERAL (
          SELECT x.lo FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at = '9999-12-31 UTC' AND x.lo > $1 ORDER BY x.lo LIMIT $2) r
         ORDER BY r.lo LIMIT $2) p ORDER BY p.lo
