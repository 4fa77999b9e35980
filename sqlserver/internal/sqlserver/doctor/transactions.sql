-- Never the query: it may hold data. The views tell the server's own time.
SELECT TOP (@most) CAST(s.session_id AS bigint) AS id, coalesce(s.login_name, N'') AS login, coalesce(s.program_name, N'') AS app, coalesce(s.status, N'') AS state,
       DATEDIFF_BIG(microsecond, t.transaction_begin_time, SYSDATETIME()) AS micros,
       CASE WHEN d.database_transaction_log_record_count > 0 THEN CAST(1 AS bit) ELSE CAST(0 AS bit) END AS wrote
  FROM sys.dm_tran_session_transactions u
 INNER JOIN sys.dm_tran_active_transactions t ON t.transaction_id = u.transaction_id
 INNER JOIN sys.dm_exec_sessions s ON s.session_id = u.session_id
 INNER JOIN sys.dm_tran_database_transactions d ON d.transaction_id = u.transaction_id AND d.database_id = DB_ID()
 WHERE s.session_id <> @@SPID ORDER BY t.transaction_begin_time
