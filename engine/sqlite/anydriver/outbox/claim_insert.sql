-- Lay a run under lease. ?1 now, ?2 lo, ?3 n, ?4 lane, ?5 at, ?6 retry, ?7 owner, ?8 locked until, ?9 suspect.
INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect) VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
