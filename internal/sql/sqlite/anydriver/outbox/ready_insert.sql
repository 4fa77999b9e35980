-- ignores @locked_until: ready runs have none
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) VALUES (@lane, @at, @lo, @n, @retry, @suspect)
