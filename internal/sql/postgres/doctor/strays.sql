SELECT x.lo AS id
  FROM pawl.outbox_lane l CROSS JOIN LATERAL (SELECT r.lo FROM pawl.outbox_ready r WHERE r.lane = l.id ORDER BY r.at, r.lo LIMIT @look) x
 WHERE l.kind = 2 AND (SELECT o.id FROM pawl.outbox_order o WHERE o.id = x.lo) IS NULL ORDER BY x.lo LIMIT @most
