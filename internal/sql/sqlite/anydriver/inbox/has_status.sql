-- It changes nothing: see mismatch.
UPDATE pawl.inbox SET status = status WHERE source = @source AND message_id = @message_id AND status = @status
