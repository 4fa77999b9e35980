-- End the limit of a topic or queue. Returns 1, or 0 if there is none.
CREATE PROCEDURE pawl.limit_remove @kind nvarchar(max), @name nvarchar(max), @reason nvarchar(max) = NULL AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int, @id uniqueidentifier = NEWID(), @actor nvarchar(510) = ORIGINAL_LOGIN(), @target nvarchar(max) = CONCAT(@kind, N' ', @name);
EXEC pawl.check_subject @kind, @name;
EXEC pawl.check_text N'reason', @reason, 1000, 0;
EXEC pawl.check_isolation N'limit';
SET @reason = NULLIF(@reason, N'');
pawl.begin_own()
EXEC @got = pawl.limit_end @kind, @name;
EXEC pawl.audit_note @id, @actor, N'unlimit', @target, @reason, @got;
pawl.end_own()
RETURN @got;
END
