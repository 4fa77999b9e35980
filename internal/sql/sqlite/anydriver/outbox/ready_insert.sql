-- ignores @locked_until: nobody holds it
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) VALUES (@lane, @at, @lo, @n, @retry, @suspect)
