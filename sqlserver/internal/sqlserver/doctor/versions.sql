SELECT coalesce(SUM(v.reserved_space_kb), 0) * 1024 AS bytes FROM sys.dm_tran_version_store_space_usage v WHERE v.database_id = DB_ID()
