-- Tables of pawl that are not there. The list of migrations says what was made, not
-- what somebody dropped since. ?1 now.
SELECT column1 FROM (VALUES pawl.tables())
 WHERE trim(column1, '"') NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table') AND ?1 > 0 ORDER BY column1
