-- The claimed runs of owner ?4 that overlap ?2 … ?3 (exclusive).
SELECT lo, n, lane, at, retry, locked_until, suspect FROM pawl.outbox_claim
 WHERE lo >= coalesce((SELECT max(lo) FROM pawl.outbox_claim WHERE lo <= ?2), ?2) AND lo < ?3 AND lo + n > ?2 AND owner = ?4
