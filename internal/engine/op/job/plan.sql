UPDATE pawl.job SET next_time = @next_time, due_at = @due_at, last_error = NULL WHERE id = @id AND version = @version AND next_time IS NULL AND pawl.is(enabled)
