UPDATE pawl.job SET due_at = @now + @delay, last_error = @error WHERE id = @id AND version = @version AND enabled
