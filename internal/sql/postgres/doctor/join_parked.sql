-- They are one range of the index in each lane: runs that wait for other reasons are not
-- read.
SELECT p.lo, (SELECT w.join_id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.id = p.lo AND j.status <> 0) AS over
  FROM (SELECT r.lo FROM pawl.outbox_lane l CROSS JOIN LATERAL (
          SELECT x.lo FROM pawl.outbox_ready x WHERE x.lane = l.id AND x.at = '9999-12-31 UTC' AND x.lo > @after ORDER BY x.lo LIMIT @most) r
         ORDER BY r.lo LIMIT @most) p ORDER BY p.lo
