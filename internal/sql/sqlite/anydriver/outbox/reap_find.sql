SELECT lo, n, lane, at, retry, locked_until, suspect FROM pawl.outbox_claim WHERE locked_until < @now ORDER BY lo LIMIT @most
