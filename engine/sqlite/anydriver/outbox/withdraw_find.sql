-- The ready run that holds message ?2. ?1 now, ?3 only if it is due.
SELECT lo, n, lane, at, retry, suspect FROM pawl.outbox_ready
 WHERE lo = (SELECT max(lo) FROM pawl.outbox_ready WHERE lo <= ?2) AND lo + n > ?2 AND (NOT ?3 OR at <= ?1)
