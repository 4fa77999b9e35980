-- Take a message back that this transaction has put at ?2. ?1 now. Runs in a
-- caller's transaction.
DELETE FROM pawl.outbox_message WHERE id = ?2
