SELECT actor AS actor FROM pawl.outbox_limit WHERE kind = @kind AND name = @name AND pattern = ''
