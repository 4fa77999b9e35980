-- They are one range of the index in each lane: runs that wait for other reasons are not
-- read.
SELECT r.lo, (SELECT w.join_id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = r.lo AND j.status <> 0) AS over
  FROM pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r
 WHERE r.lo IN (SELECT x.lo FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at = 253402300799000000 AND x.lo > @after ORDER BY x.lo LIMIT @most)
 ORDER BY r.lo LIMIT @most
