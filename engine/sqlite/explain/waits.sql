-- Waits of join ?2 that are not handled, by position, at most ?3 of its first 100. ?1 now.
SELECT i.id FROM (SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = ?2 ORDER BY w.id LIMIT 100) x
  JOIN pawl.outbox_item i ON i.id = x.id WHERE i.status IN (0, 1, 3) ORDER BY i.id LIMIT ?3
