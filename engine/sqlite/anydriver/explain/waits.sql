-- Waits of join ?2 by position, at most ?3. ?1 now.
SELECT w.id FROM pawl.outbox_join_wait w WHERE w.join_id = ?2 ORDER BY w.id LIMIT ?3
