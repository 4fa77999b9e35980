-- Forget messages done before ?2, at most ?3.
DELETE FROM pawl.inbox WHERE (source, message_id) IN (
  SELECT source, message_id FROM pawl.inbox WHERE status = 'Done' AND processed_utc < ?2 ORDER BY processed_utc LIMIT ?3)
