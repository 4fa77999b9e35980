DECLARE @BLOCK nvarchar(30) = CAST(@low / 4096 + 1 AS nvarchar(30)), @SINGLE nvarchar(30) = CAST(@high + 1 AS nvarchar(30)), @TEXT nvarchar(max);
IF EXISTS (SELECT 1 FROM sys.sequences s WHERE s.object_id = OBJECT_ID(N'pawl.outbox_block') AND CAST(s.current_value AS bigint) <= @low / 4096)
BEGIN
  SET @TEXT = CONCAT(N'ALTER SEQUENCE pawl.outbox_block RESTART WITH ', @BLOCK);
  EXEC (@TEXT);
END
IF EXISTS (SELECT 1 FROM sys.sequences s WHERE s.object_id = OBJECT_ID(N'pawl.outbox_single') AND CAST(s.current_value AS bigint) <= @high)
BEGIN
  SET @TEXT = CONCAT(N'ALTER SEQUENCE pawl.outbox_single RESTART WITH ', @SINGLE);
  EXEC (@TEXT);
END
