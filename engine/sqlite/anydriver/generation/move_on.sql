-- Hand out no ids up to ?2 any more. ?1 now.
INSERT OR REPLACE INTO pawl.outbox_sequence (last, one) SELECT max(last, ?2), 1 FROM pawl.outbox_sequence
