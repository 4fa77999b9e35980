DELETE FROM pawl.timer WHERE id IN (
  SELECT id FROM pawl.timer INDEXED BY pawl.timer_over WHERE status >= 2 AND processed_at < @now - @age ORDER BY processed_at LIMIT @most)
