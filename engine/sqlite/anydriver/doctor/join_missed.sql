-- Pending members of the pending join ?2 whose messages are settled: position and
-- message id, by position. ?3 how many at most. The plus: see joins.
SELECT m.id, m.outbox_message_id FROM pawl.outbox_join_member m
 WHERE m.join_id = ?2 AND +m.status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join j WHERE j.join_id = ?2 AND j.status = 0)
   AND (EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE d.lo = (SELECT max(z.lo) FROM pawl.outbox_done z WHERE z.lo <= m.id) AND d.lo + d.n > m.id)
     OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3))
 ORDER BY m.id LIMIT ?3
