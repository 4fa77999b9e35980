SELECT pawl.columns(w) FROM pawl.outbox_join_wait w WHERE w.join_id = @join ORDER BY w.id pawl.limit(@most)
