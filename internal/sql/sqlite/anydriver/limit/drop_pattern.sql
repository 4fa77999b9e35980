DELETE FROM pawl.outbox_limit WHERE pattern <> '' AND pattern = @pattern
