-- Forget the members of join ?2.
DELETE FROM pawl.outbox_join_member WHERE join_id = ?2
