-- Lay a run into done. ?1 now, ?2 lo, ?3 n, ?4 owner, ?5 processed by.
INSERT INTO pawl.outbox_done (lo, n, processed_at, owner, processed_by) VALUES (?2, ?3, ?1, ?4, ?5)
