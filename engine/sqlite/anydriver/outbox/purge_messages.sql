-- Forget the messages ?2 … ?3 (exclusive). ?1 now.
DELETE FROM pawl.outbox_message WHERE id >= ?2 AND id < ?3
