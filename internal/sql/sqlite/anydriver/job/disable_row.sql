UPDATE pawl.job SET enabled = 0, next_time = NULL, due_at = NULL, version = version + 1, updated_at = @now WHERE name = @name AND enabled
