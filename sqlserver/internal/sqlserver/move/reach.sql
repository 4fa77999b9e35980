SELECT CAST(b.current_value AS bigint) * 4096 + 4095 AS low, CAST(s.current_value AS bigint) AS high
  FROM sys.sequences b CROSS JOIN sys.sequences s WHERE b.object_id = OBJECT_ID(N'pawl.outbox_block') AND s.object_id = OBJECT_ID(N'pawl.outbox_single')
