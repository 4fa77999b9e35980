-- end_insert()
-- Behind the insert: @known says that the key is known.
END TRY
BEGIN CATCH
IF @abort = 1 SET XACT_ABORT ON;
IF ERROR_NUMBER() NOT IN (2601, 2627) THROW;
SET @known = 1;
END CATCH;
IF @abort = 1 SET XACT_ABORT ON;
