-- Reads the first page, under a lock. ?1 now.
SELECT count(*) FROM (SELECT 1 FROM sqlite_schema WHERE ?1 > 0 LIMIT 1)
