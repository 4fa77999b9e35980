-- Note what this user does to @target by a routine of its own, unless @done is 0.
CREATE PROCEDURE pawl.audit_own @action nvarchar(510), @target nvarchar(max), @done bigint AS
BEGIN
SET NOCOUNT ON;
DECLARE @id uniqueidentifier = NEWID(), @actor nvarchar(510) = ORIGINAL_LOGIN();
EXEC pawl.audit_note @id, @actor, @action, @target, NULL, @done;
END
