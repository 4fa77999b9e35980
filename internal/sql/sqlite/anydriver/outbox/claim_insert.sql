INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect) VALUES (@lo, @n, @lane, @at, @retry, @owner, @locked_until, @suspect)
