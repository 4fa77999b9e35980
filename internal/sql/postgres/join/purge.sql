SELECT pawl.outbox_join_purge(@age, @most)
