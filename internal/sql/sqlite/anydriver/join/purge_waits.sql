DELETE FROM pawl.outbox_join_wait WHERE join_id = @join_id
