SELECT CAST(SERVERPROPERTY(N'ProductVersion') AS nvarchar(128)) AS version, CAST(SERVERPROPERTY(N'EngineEdition') AS int) AS edition, CAST(d.compatibility_level AS int) AS level,
       d.is_read_only AS read_only, CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), N'Updateability') AS nvarchar(60)) = N'READ_ONLY' THEN CAST(1 AS bit) ELSE CAST(0 AS bit) END AS standby,
       d.is_read_committed_snapshot_on AS versioned, d.is_auto_close_on AS closes, d.is_auto_shrink_on AS shrinks, d.is_auto_update_stats_on AS counts, d.is_auto_create_stats_on AS measures,
       CAST(d.delayed_durability AS int) AS delayed, CAST(d.page_verify_option AS int) AS verify
  FROM sys.databases d WHERE d.name = DB_NAME()
