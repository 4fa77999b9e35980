-- Count the pending member ?3 of the pending join ?2 as ?4. One row affected if so.
UPDATE pawl.outbox_join_member SET status = ?4
 WHERE join_id = ?2 AND outbox_message_id = ?3 AND status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join WHERE join_id = ?2 AND status = 0)
