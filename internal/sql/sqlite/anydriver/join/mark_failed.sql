UPDATE pawl.outbox_join SET failed_steps = failed_steps + @failed WHERE join_id = @join_id
