-- What a role may not see is not there, for it.
SELECT x.kind, x.name, x.sound FROM (
  SELECT N'table' AS kind, o.name, CAST(1 AS bit) AS sound FROM sys.tables o WHERE o.schema_id = SCHEMA_ID(@schema)
  UNION ALL SELECT N'sequence', o.name, 1 FROM sys.sequences o WHERE o.schema_id = SCHEMA_ID(@schema)
  UNION ALL SELECT N'type', o.name, 1 FROM sys.table_types o WHERE o.schema_id = SCHEMA_ID(@schema)
  UNION ALL SELECT CASE o.type WHEN 'V' THEN N'view' ELSE N'routine' END, o.name, 1 FROM sys.objects o WHERE o.schema_id = SCHEMA_ID(@schema) AND o.type IN ('P', 'V', 'FN', 'IF', 'TF')
  UNION ALL SELECT N'column', CONCAT(o.name, N'.', c.name), 1 FROM sys.columns c INNER JOIN sys.tables o ON o.object_id = c.object_id WHERE o.schema_id = SCHEMA_ID(@schema)
  UNION ALL SELECT N'index', CONCAT(o.name, N'.', i.name), CASE i.is_disabled WHEN 1 THEN 0 ELSE 1 END FROM sys.indexes i INNER JOIN sys.tables o ON o.object_id = i.object_id
             WHERE o.schema_id = SCHEMA_ID(@schema) AND i.name IS NOT NULL) x
 WHERE LEFT(x.name, LEN(@prefix)) = @prefix COLLATE Latin1_General_100_BIN2
