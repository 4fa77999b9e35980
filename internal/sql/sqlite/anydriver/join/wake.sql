UPDATE pawl.outbox_ready SET at = @now
 WHERE at > @now AND n = 1 AND lo IN (SELECT w.id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.join_id = @join_id AND j.status <> 0)
