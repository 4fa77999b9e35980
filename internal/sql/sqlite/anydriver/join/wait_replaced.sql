UPDATE pawl.outbox_join_wait SET replaced = 1 WHERE join_id = @join_id
