SELECT 1 FROM pawl.outbox_join_hold(@join_id, @ids)
