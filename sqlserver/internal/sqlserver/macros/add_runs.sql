-- add_runs()
-- Adds the runs of @some, a JSON array, to @runs: @n messages, which take of @room.
SELECT @base = coalesce(MAX(r.nr), 0) FROM @runs r;
INSERT INTO @runs (nr, at, lo, n, retry, priority)
SELECT @base + x.nr, @now, x.lo, x.n, x.retry, x.priority FROM OPENJSON(@some) WITH (nr int, lo bigint, n bigint, retry int, priority bigint) x;
SELECT @n = coalesce(SUM(r.n), 0) FROM @runs r WHERE r.nr > @base;
SELECT @got = @got + @n, @room = @room - @n;
