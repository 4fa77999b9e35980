-- The queue's message of supplied id ?2 if it failed. ?1 now.
SELECT m.id, m.lane FROM pawl.outbox_message m JOIN pawl.outbox_exception e ON e.id = m.id WHERE m.message_id = ?2 AND m.supplied = 1 AND e.status = 3
