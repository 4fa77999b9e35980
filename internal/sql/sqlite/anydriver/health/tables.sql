SELECT column1 AS name FROM (VALUES pawl.tables())
 WHERE trim(column1, '"') NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table') ORDER BY column1
