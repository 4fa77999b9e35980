-- Runs whose lease has run out. ?1 now, ?2 how many at most.
SELECT lo, n, lane, at, retry, locked_until, suspect FROM pawl.outbox_claim WHERE locked_until < ?1 ORDER BY lo LIMIT ?2
