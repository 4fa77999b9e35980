UPDATE pawl.outbox_join SET status = 1, last_updated_utc = @now
 WHERE join_id = @join_id AND status = 2 AND completed_steps + failed_steps = expected_steps
