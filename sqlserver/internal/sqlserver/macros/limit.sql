-- limit(n)
-- Behind ORDER BY. n is 1 at least.
OFFSET 0 ROWS FETCH NEXT {n} ROWS ONLY
