SELECT pawl.columns(t) FROM pawl.move_table t ORDER BY t.name
