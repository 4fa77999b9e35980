UPDATE pawl.job SET next_time = @to, due_at = @due, last_error = NULL WHERE id = @id AND version = @version AND next_time = @from AND enabled
