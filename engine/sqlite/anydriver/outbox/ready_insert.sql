-- Lay a run into ready. ?1 now, ?2 lane, ?3 at, ?4 lo, ?5 n, ?6 retry, ?7 suspect.
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) VALUES (?2, ?3, ?4, ?5, ?6, ?7)
