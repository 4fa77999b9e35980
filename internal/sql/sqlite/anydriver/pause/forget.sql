DELETE FROM pawl.outbox_pause WHERE kind = 'topic' AND name = @name AND ending
