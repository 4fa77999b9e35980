UPDATE pawl.outbox_ready SET at = @now
 WHERE at > @now AND n = 1 AND lo = pawl.message_at(@id, @message_id) AND (@name = '' OR EXISTS (SELECT 1 FROM pawl.flow_wait w WHERE w.id = lo AND w.name = @name))
