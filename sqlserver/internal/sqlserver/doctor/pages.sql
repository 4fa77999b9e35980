SELECT o.name, SUM(CASE WHEN p.index_id < 2 THEN p.row_count ELSE 0 END) AS rows, SUM(p.used_page_count) AS pages
  FROM sys.tables o INNER JOIN sys.dm_db_partition_stats p ON p.object_id = o.object_id
 WHERE o.schema_id = SCHEMA_ID(@schema) AND LEFT(o.name, LEN(@prefix)) = @prefix COLLATE Latin1_General_100_BIN2 GROUP BY o.name ORDER BY o.name
