DELETE FROM pawl.outbox_limit WHERE kind = @kind AND name = @name AND pattern = ''
