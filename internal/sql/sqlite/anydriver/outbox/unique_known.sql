SELECT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id IN (@id, @carried) AND m.message_id = @message_id)
       OR EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.message_id = @message_id AND m.supplied = 1) OR EXISTS (SELECT 1 FROM pawl.timer t WHERE t.id = @carried AND t.timer_id = @message_id AND t.status < 2) AS found
