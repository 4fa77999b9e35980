-- It reads the first page, under a lock: the clock alone would not ask the file. That the
-- file is still the one that was opened was checked before.
SELECT @now AS now FROM (SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1))
