-- The plus prevents the index by status, which has all pending members.
SELECT pawl.columns(j),
       (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT @most_members)) AS members,
       (SELECT count(*) FROM (SELECT y.status AS s FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT @most_members) WHERE s = 1) AS members_completed,
       (SELECT count(*) FROM (SELECT y.status AS s FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT @most_members) WHERE s = 2) AS members_failed,
       (SELECT count(*) FROM (SELECT y.id AS id FROM pawl.outbox_join_member y WHERE j.status = 0 AND y.join_id = j.join_id AND +y.status = 0 LIMIT @most_members) w
         WHERE pawl.settled(w.id)) AS missed
  FROM (SELECT * FROM pawl.outbox_join WHERE status = @status AND join_id < @before ORDER BY join_id DESC LIMIT @most) j ORDER BY j.join_id DESC
