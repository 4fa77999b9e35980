SELECT x.lo AS id
  FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (@look) r.lo FROM pawl.outbox_ready r WHERE r.lane = l.id ORDER BY r.at, r.lo) x
 WHERE l.kind = 2 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = x.lo) ORDER BY x.lo pawl.limit(@most)
