-- backoff(retry)
-- Microseconds until the next attempt after so many retries: 1, 2, 4, … 60 s (D-14).
CASE WHEN {retry} >= 6 THEN 60000000 ELSE 1000000 * POWER(CAST(2 AS bigint), {retry}) END
