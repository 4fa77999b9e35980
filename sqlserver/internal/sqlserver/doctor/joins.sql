SELECT pawl.columns(j), m.n AS members, m.completed AS members_completed, m.failed AS members_failed, s.n AS missed
  FROM (SELECT TOP (@most) x.* FROM pawl.outbox_join x WHERE x.status = @status AND x.rank < pawl.rank(@before) ORDER BY x.rank DESC) j
 CROSS APPLY (
  SELECT COUNT(*) AS n, coalesce(SUM(CASE WHEN x.status = 1 THEN 1 ELSE 0 END), 0) AS completed, coalesce(SUM(CASE WHEN x.status = 2 THEN 1 ELSE 0 END), 0) AS failed
    FROM (SELECT TOP (@most_members) y.status FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id) x) m
 CROSS APPLY (
  SELECT COUNT(*) AS n
    FROM (SELECT TOP (@most_members) y.id FROM pawl.outbox_join_member y WHERE j.status = 0 AND y.join_id = j.join_id AND y.status = 0) w
   WHERE pawl.settled(w.id)) s
 ORDER BY j.rank DESC
