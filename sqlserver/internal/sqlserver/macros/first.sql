-- first(n)
-- Any n rows, 1 at least.
ORDER BY (SELECT NULL) OFFSET 0 ROWS FETCH NEXT {n} ROWS ONLY
