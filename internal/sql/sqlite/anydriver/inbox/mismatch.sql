-- A caller's transaction lets us see nothing but rows affected: hence the update of
-- nothing.
UPDATE pawl.inbox SET status = status WHERE source = @source AND message_id = @message_id AND hash <> @hash
