-- Forget what went wrong with messages ?2 … ?3 (exclusive). ?1 now.
DELETE FROM pawl.outbox_exception WHERE id >= ?2 AND id < ?3
