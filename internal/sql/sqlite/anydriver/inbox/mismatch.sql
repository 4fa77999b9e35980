-- An update that changes nothing, because in a caller's transaction only the number of rows
-- affected can be read.
UPDATE pawl.inbox SET status = status WHERE source = @source AND message_id = @message_id AND hash <> @hash
