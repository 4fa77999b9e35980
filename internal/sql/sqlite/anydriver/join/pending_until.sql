SELECT coalesce(deadline_utc, 253402300799000000) AS until FROM pawl.outbox_join WHERE join_id = @join_id AND status = 0
