-- It reads the first page, under a lock. That the file is still the one that was opened
-- was seen before.
SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)
