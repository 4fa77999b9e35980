-- It changes nothing: see known.
UPDATE pawl.outbox_join_member SET status = status WHERE join_id = @join_id AND outbox_message_id = @message_id
