UPDATE pawl.outbox_limit SET next_at = @next_at WHERE kind = @kind AND name = @name
