-- As many as do not take long: see outbox_purge.
DELETE FROM pawl.inbox i WHERE (i.source, i.message_id) IN (
  SELECT x.source, x.message_id FROM pawl.inbox x WHERE x.status = 'Done' AND x.processed_utc < @now - @age
   ORDER BY x.processed_utc LIMIT 10 * @most FOR UPDATE SKIP LOCKED)
