-- They are one stretch of the index in each lane: what waits for other reasons is
-- not looked at.
SELECT p.lo, (SELECT w.join_id FROM pawl.outbox_join_waiting w INNER JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = p.lo AND j.status <> 0) AS "over"
  FROM (SELECT TOP (@most) r.lo FROM pawl.outbox_lane l
         CROSS APPLY (SELECT TOP (@most) x.lo FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at = '9999-12-31' AND x.lo > @after ORDER BY x.lo) r
         ORDER BY r.lo) p ORDER BY p.lo
