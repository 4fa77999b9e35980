DELETE FROM pawl.outbox_pause WHERE kind = @kind AND kind = 'queue' AND name = @name
