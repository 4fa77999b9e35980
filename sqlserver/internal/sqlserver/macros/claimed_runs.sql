-- claimed_runs()
-- The runs of a claim, @runs, as a JSON array in @claimed.
SET @claimed = (SELECT ROW_NUMBER() OVER (ORDER BY r.nr, r.at, r.lo) AS nr, r.lo, r.n, r.retry, r.priority FROM @runs r ORDER BY r.nr, r.at, r.lo FOR JSON PATH);
