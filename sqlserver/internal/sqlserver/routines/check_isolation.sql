-- Refuse a transaction whose statements do not see what others committed meanwhile, or see
-- what they did not commit. Whoever waits for a lock and then reads what its holder did needs
-- that. @what: what was to be done.
CREATE PROCEDURE pawl.check_isolation @what nvarchar(100) AS
BEGIN
SET NOCOUNT ON;
DECLARE @text nvarchar(2048) = CONCAT(@what, N': this transaction is SNAPSHOT or READ UNCOMMITTED, and needs READ COMMITTED');
IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions s WHERE s.session_id = @@SPID AND s.transaction_isolation_level NOT IN (2, 3, 4))
  THROW 57100, @text, 1;
END
