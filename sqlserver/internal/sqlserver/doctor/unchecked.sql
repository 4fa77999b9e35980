SELECT x.name, x.of_table, x.is_disabled AS disabled FROM (
  SELECT f.name, f.is_disabled, f.is_not_trusted, f.parent_object_id, o.name AS of_table FROM sys.foreign_keys f INNER JOIN sys.tables o ON o.object_id = f.parent_object_id WHERE o.schema_id = SCHEMA_ID(@schema)
  UNION ALL
  SELECT c.name, c.is_disabled, c.is_not_trusted, c.parent_object_id, o.name FROM sys.check_constraints c INNER JOIN sys.tables o ON o.object_id = c.parent_object_id WHERE o.schema_id = SCHEMA_ID(@schema)) x
 WHERE (x.is_disabled = 1 OR x.is_not_trusted = 1) AND LEFT(x.of_table, LEN(@prefix)) = @prefix COLLATE Latin1_General_100_BIN2 ORDER BY x.of_table, x.name
