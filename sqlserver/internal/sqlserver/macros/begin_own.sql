-- begin_own()
-- What a routine that writes begins with, behind its declarations: outside of a
-- transaction it makes one of its own.
SET NOCOUNT ON;
DECLARE @own bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END;
BEGIN TRY
IF @own = 1 BEGIN TRANSACTION;
