SELECT id AS lo, 1 AS n FROM (
  SELECT e.id, e.updated_at FROM pawl.outbox_exception e
   WHERE e.status >= 3 AND e.status = @status
     AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_member m JOIN pawl.outbox_join j ON j.join_id = m.join_id
                      WHERE m.status IN (0, 1, 2) AND m.id = e.id AND j.status = 0)
   ORDER BY e.id LIMIT @look)
 WHERE updated_at < @before
