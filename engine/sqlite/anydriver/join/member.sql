-- Is message ?3 a member of join ?2? One row affected if so.
UPDATE pawl.outbox_join_member SET status = status WHERE join_id = ?2 AND outbox_message_id = ?3
