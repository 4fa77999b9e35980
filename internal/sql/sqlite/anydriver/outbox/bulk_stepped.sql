UPDATE pawl.outbox_bulk SET n = n + @n, last = @last, stepped_at = @now, at = @now + @wait, ended_at = CASE WHEN @over THEN @now END WHERE id = @id
