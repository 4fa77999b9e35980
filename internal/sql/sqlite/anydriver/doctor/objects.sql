SELECT type AS kind, name, sql FROM sqlite_schema WHERE sql IS NOT NULL
