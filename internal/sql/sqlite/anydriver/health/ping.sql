-- It reads the first page, under a lock. The guard has checked that the file is still the one
-- that was opened.
SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)
