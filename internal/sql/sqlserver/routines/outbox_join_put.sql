-- Store a join. Returns 1, or 0 if its id is known. An insert that meets the same id in an
-- open transaction waits for that; the error must not end the caller's, whatever its
-- settings. XACT_ABORT is as before when a procedure ends.
CREATE PROCEDURE pawl.outbox_join_put @join uniqueidentifier, @grouping_key nvarchar(510), @expected_steps int, @metadata nvarchar(max), @deadline datetime2(7) AS
BEGIN
SET NOCOUNT ON;
SET XACT_ABORT OFF;
DECLARE @now datetime2(7) = SYSUTCDATETIME();
BEGIN TRY
  INSERT INTO pawl.outbox_join (join_id, grouping_key, expected_steps, metadata, deadline_utc, created_utc, last_updated_utc)
  VALUES (@join, @grouping_key, @expected_steps, @metadata, @deadline, @now, @now);
END TRY
BEGIN CATCH
  IF ERROR_NUMBER() NOT IN (2601, 2627) THROW;
  RETURN 0;
END CATCH;
RETURN 1;
END
