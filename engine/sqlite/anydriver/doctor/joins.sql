-- Joins of status ?3, newest first, with what their members say; at most ?5
-- members of a join are looked at. ?2 below this id, ?4 how many. The last column
-- is how many messages of a pending join are settled and not counted. The plus
-- keeps the planner from the index by status, which has all pending members.
SELECT j.join_id, j.expected_steps, j.completed_steps, j.failed_steps,
       (SELECT count(*) FROM (SELECT 1 FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT ?5)),
       (SELECT count(*) FROM (SELECT y.status AS s FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT ?5) WHERE s = 1),
       (SELECT count(*) FROM (SELECT y.status AS s FROM pawl.outbox_join_member y WHERE y.join_id = j.join_id LIMIT ?5) WHERE s = 2),
       (SELECT count(*) FROM (SELECT y.id AS id FROM pawl.outbox_join_member y WHERE j.status = 0 AND y.join_id = j.join_id AND +y.status = 0 LIMIT ?5) w
         WHERE EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE d.lo = (SELECT max(z.lo) FROM pawl.outbox_done z WHERE z.lo <= w.id) AND d.lo + d.n > w.id)
            OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = w.id AND e.status >= 3))
  FROM (SELECT * FROM pawl.outbox_join WHERE status = ?3 AND join_id < ?2 ORDER BY join_id DESC LIMIT ?4) j ORDER BY j.join_id DESC
