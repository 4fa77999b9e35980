SELECT pawl.columns(b) FROM pawl.outbox_bulk b WHERE @id IS NULL OR b.id = @id ORDER BY b.created_at DESC, b.id pawl.limit(@most)
