UPDATE pawl.job SET due_at = pawl.plus(@now, @delay), last_error = @error WHERE id = @id AND version = @version AND pawl.is(enabled)
