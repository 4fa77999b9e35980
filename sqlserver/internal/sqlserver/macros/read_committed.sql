-- read_committed()
-- Behind check_isolation, in procedures that skip locked rows: a SERIALIZABLE session may not
-- (error 650). The setting ends with the procedure.
IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions s WHERE s.session_id = @@SPID AND s.transaction_isolation_level = 4)
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
