-- Forget timers that were over before ?2, at most ?3. ?1 now.
DELETE FROM pawl.timer WHERE id IN (
  SELECT id FROM pawl.timer INDEXED BY pawl.timer_over WHERE status >= 2 AND processed_at < ?2 ORDER BY processed_at LIMIT ?3)
