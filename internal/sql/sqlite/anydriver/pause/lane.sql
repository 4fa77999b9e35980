SELECT lane FROM pawl.outbox_pause WHERE kind = 'topic' AND name = @name AND NOT ending
