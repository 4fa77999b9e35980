DELETE FROM pawl.outbox_join_result WHERE join_id = @join_id
