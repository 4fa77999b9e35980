-- Discarded messages that are old enough, among the ?3 lowest that no pending
-- join needs. ?1 now, ?2 discarded before.
SELECT id, 1 FROM (
  SELECT e.id, e.updated_at FROM pawl.outbox_exception e
   WHERE e.status >= 3 AND e.status = 4
     AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_member m JOIN pawl.outbox_join j ON j.join_id = m.join_id
                      WHERE m.status IN (0, 1, 2) AND m.id = e.id AND j.status = 0)
   ORDER BY e.id LIMIT ?3)
 WHERE updated_at < ?2
