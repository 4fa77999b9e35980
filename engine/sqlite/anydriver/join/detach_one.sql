-- Undo the attaching of message ?3 to join ?2.
DELETE FROM pawl.outbox_join_member WHERE join_id = ?2 AND outbox_message_id = ?3
