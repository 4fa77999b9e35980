SELECT m.id, m.lane FROM pawl.outbox_message m JOIN pawl.outbox_exception e ON e.id = m.id WHERE m.message_id = @queued_as AND m.supplied = 1 AND e.status = 3
