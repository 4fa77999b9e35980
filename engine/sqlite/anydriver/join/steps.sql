-- Count the pending members of the pending join ?2 at ?3 … ?4 (exclusive) as ?5,
-- as many as it still expects.
UPDATE pawl.outbox_join_member SET status = ?5
 WHERE join_id = ?2 AND outbox_message_id IN (
   SELECT m.outbox_message_id FROM pawl.outbox_join_member m INDEXED BY pawl.outbox_join_member_place
    WHERE m.status = 0 AND m.id >= ?3 AND m.id < ?4 AND m.join_id = ?2 ORDER BY m.id
    LIMIT (SELECT expected_steps - completed_steps - failed_steps FROM pawl.outbox_join WHERE join_id = ?2))
