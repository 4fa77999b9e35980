-- Forget the done run at ?2. ?1 now.
DELETE FROM pawl.outbox_done WHERE lo = ?2
