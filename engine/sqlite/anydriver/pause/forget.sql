-- Forget the pause of topic ?2 that ended. ?1 now.
DELETE FROM pawl.outbox_pause WHERE kind = 'topic' AND name = ?2 AND ending
