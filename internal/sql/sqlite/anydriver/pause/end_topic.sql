UPDATE pawl.outbox_pause SET ending = 1 WHERE kind = @kind AND kind = 'topic' AND name = @name
