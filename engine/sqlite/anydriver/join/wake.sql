-- Make the waits of join ?2, if it is over, due at once, wherever in the future
-- they are put back to (D-33). ?1 now.
UPDATE pawl.outbox_ready SET at = ?1
 WHERE at > ?1 AND n = 1 AND lo IN (SELECT w.id FROM pawl.outbox_join_wait w JOIN pawl.outbox_join j ON j.join_id = w.join_id WHERE w.join_id = ?2 AND j.status <> 0)
