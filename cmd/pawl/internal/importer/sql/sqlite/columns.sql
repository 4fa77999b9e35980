-- The columns of every table of a schema: main, or none.
SELECT m.name, c.name, lower(c.type) FROM sqlite_schema m INNER JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND ?1 IN ('main', '') ORDER BY m.name, c.cid
