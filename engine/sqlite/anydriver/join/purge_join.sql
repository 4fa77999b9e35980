-- Forget join ?2.
DELETE FROM pawl.outbox_join_base WHERE join_id = ?2
