SELECT t.name, o.name AS of_table FROM sys.triggers t INNER JOIN sys.tables o ON o.object_id = t.parent_id
 WHERE o.schema_id = SCHEMA_ID(@schema) AND t.is_disabled = 0 AND LEFT(o.name, LEN(@prefix)) = @prefix COLLATE Latin1_General_100_BIN2 ORDER BY o.name, t.name
