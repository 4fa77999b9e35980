-- end_own()
-- What a routine that began with begin_own ends with, but for RETURN.
IF @own = 1 COMMIT TRANSACTION;
END TRY
BEGIN CATCH
IF @own = 1 AND XACT_STATE() <> 0 ROLLBACK TRANSACTION;
THROW;
END CATCH;
