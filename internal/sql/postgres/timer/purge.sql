-- As many as do not take long: see outbox_purge.
DELETE FROM pawl.timer t WHERE t.id = ANY (ARRAY(
  SELECT x.id FROM pawl.timer x WHERE x.status >= 2 AND x.processed_at < @now - @age ORDER BY x.processed_at LIMIT 10 * @most FOR UPDATE SKIP LOCKED))
