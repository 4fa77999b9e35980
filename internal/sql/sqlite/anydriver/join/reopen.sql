UPDATE pawl.outbox_join SET failed_steps = failed_steps - 1, last_updated_utc = @now
 WHERE status = 0 AND join_id IN (SELECT join_id FROM pawl.outbox_join_member WHERE status = 2 AND id = @id)
