UPDATE pawl.outbox_bulk SET ended_at = @now, stopped_by = @actor WHERE id = @id AND ended_at IS NULL
