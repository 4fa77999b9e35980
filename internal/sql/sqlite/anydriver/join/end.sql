UPDATE pawl.outbox_join SET status = @status, last_updated_utc = @now WHERE join_id = @join_id AND status = 0 AND (@status = 3 OR deadline_utc <= @now)
