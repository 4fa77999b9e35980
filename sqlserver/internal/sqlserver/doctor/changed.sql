SELECT o.name, m.definition FROM sys.objects o INNER JOIN sys.sql_modules m ON m.object_id = o.object_id
 WHERE o.schema_id = SCHEMA_ID(@schema) AND LEFT(o.name, LEN(@prefix)) = @prefix COLLATE Latin1_General_100_BIN2 AND m.definition IS NOT NULL
