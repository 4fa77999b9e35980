SELECT lo, n, lane, at, retry, locked_until, suspect FROM pawl.outbox_claim
 WHERE lo >= coalesce((SELECT max(lo) FROM pawl.outbox_claim WHERE lo <= @lo), @lo) AND lo < @end AND lo + n > @lo AND owner = @owner
