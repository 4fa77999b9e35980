-- Forget join ?2.
DELETE FROM pawl.outbox_join WHERE join_id = ?2
