-- An update that changes nothing, because in a caller's transaction only the number of rows
-- affected can be read.
UPDATE pawl.outbox_message SET lane = lane WHERE id = pawl.message_at(@id, @message_id)
