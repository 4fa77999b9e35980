SELECT pawl.outbox_join_park(@join_id, @owner, @id)
