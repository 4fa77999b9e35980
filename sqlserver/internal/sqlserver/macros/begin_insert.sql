-- begin_insert()
-- Before an insert that may come second. The error must not end the transaction, whatever its
-- settings, and others must, where the settings say so.
DECLARE @known bit, @abort bit;
SELECT @known = 0, @abort = CASE WHEN @@OPTIONS & 16384 = 16384 THEN 1 ELSE 0 END;
SET XACT_ABORT OFF;
BEGIN TRY
