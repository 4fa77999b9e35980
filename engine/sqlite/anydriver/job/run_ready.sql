-- Have the message at ?3 of job ?2 claimed. ?1 now.
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) SELECT lane, ?1, ?3, 1, 0 FROM pawl.job WHERE id = ?2
