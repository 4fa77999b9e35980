SELECT pawl.columns(j), m.n AS members, m.completed AS members_completed, m.failed AS members_failed, s.n AS missed
  FROM (SELECT * FROM pawl.outbox_join WHERE status = @status AND join_id < @before ORDER BY join_id DESC LIMIT @most) j
 CROSS JOIN LATERAL (
  SELECT count(*) AS n, count(*) FILTER (WHERE x.status = 1) AS completed, count(*) FILTER (WHERE x.status = 2) AS failed
    FROM (SELECT y.status FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT @most_members) x) m
 CROSS JOIN LATERAL (
  SELECT count(*) AS n
    FROM (SELECT y.id FROM pawl.outbox_join_member y WHERE j.status = 0 AND y.join_id = j.join_id AND y.status = 0 LIMIT @most_members) w
   WHERE pawl.settled(w.id)) s
 ORDER BY j.join_id DESC
