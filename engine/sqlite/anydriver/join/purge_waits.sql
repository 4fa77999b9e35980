-- Forget the waits of join ?2.
DELETE FROM pawl.outbox_join_wait WHERE join_id = ?2
