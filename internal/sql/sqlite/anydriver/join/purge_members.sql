DELETE FROM pawl.outbox_join_member WHERE join_id = @join_id
