-- A known id is found in the index if it was supplied, and at the position that it carries
-- if pawl made it: as a message, or as a timer that is yet to become one.
INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, topic, correlation_id, headers, payload, created_at, due_at)
SELECT @id, @message_id, @supplied, @lane, @topic, @correlation_id, @headers, @payload, @now, @due_at
 WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_message WHERE id = @carried AND message_id = @message_id)
   AND NOT EXISTS (SELECT 1 FROM pawl.timer WHERE id = @carried AND timer_id = @message_id AND status < 2)
ON CONFLICT (message_id) WHERE supplied = 1 DO NOTHING
