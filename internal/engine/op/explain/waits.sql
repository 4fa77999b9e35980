SELECT pawl.columns(w) FROM pawl.wait_table() w WHERE w.join_id = @join AND NOT pawl.is(w.replaced) ORDER BY w.id pawl.limit(@most)
