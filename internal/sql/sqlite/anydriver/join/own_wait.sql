-- It changes nothing: see known. A join that waits for its own wait never ends.
UPDATE pawl.outbox_join_wait SET join_id = join_id
 WHERE join_id = @join_id
   AND id = coalesce((SELECT id FROM pawl.outbox_message WHERE id = @id AND message_id = @message_id),
                     (SELECT id FROM pawl.outbox_message WHERE message_id = @message_id AND supplied = 1))
