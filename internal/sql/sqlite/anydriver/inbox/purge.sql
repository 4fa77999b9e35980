DELETE FROM pawl.inbox WHERE (source, message_id) IN (
  SELECT source, message_id FROM pawl.inbox WHERE status = 'Done' AND processed_utc < @now - @age ORDER BY processed_utc LIMIT @most)
