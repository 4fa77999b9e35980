-- Reserve ?2 ids; the last inserted rowid is the last of them.
-- ?1 now, ?2 how many. Runs in a caller's transaction.
INSERT OR REPLACE INTO pawl.outbox_sequence (last, one) SELECT last + ?2, 1 FROM pawl.outbox_sequence
