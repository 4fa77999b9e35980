SELECT 1 FROM pawl.outbox_join WHERE join_id = @join_id FOR NO KEY UPDATE
