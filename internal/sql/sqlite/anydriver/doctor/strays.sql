SELECT r.lo AS id
  FROM pawl.outbox_lane l CROSS JOIN pawl.outbox_ready r
 WHERE l.kind = 2 AND r.lo IN (SELECT x.lo FROM pawl.outbox_ready x WHERE x.lane = l.id ORDER BY x.at, x.lo LIMIT @look)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = r.lo)
 ORDER BY r.lo LIMIT @most
