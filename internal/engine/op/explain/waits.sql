SELECT pawl.columns(w) FROM pawl.wait_table() w WHERE w.join_id = @join ORDER BY w.id pawl.limit(@most)
