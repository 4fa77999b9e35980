INSERT INTO pawl.flow_signal (id, nr, name, created_at, payload)
SELECT m.id, 1 + coalesce((SELECT max(s.nr) FROM pawl.flow_signal s WHERE s.id = m.id), 0), @name, @now, @payload
  FROM pawl.outbox_message m WHERE m.id = pawl.message_at(@id, @message_id) AND NOT pawl.settled(m.id)
