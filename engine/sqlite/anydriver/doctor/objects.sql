-- What there is: kind, name, and the statement that made it.
SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL
