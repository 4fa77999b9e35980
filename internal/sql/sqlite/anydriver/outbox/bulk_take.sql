SELECT pawl.columns(b) FROM pawl.outbox_bulk b WHERE b.id = @id AND b.ended_at IS NULL AND b.at <= @now
