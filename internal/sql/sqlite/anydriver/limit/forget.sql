DELETE FROM pawl.outbox_limit_claim WHERE kind = @kind AND name = @name
