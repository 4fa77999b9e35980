DELETE FROM pawl.outbox_join WHERE join_id = @join_id
