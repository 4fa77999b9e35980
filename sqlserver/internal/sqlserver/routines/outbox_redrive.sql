-- Make failed messages, a JSON array of up to 1000 ids, ready again, with all attempts left. Returns
-- how many of them had failed.
CREATE PROCEDURE pawl.outbox_redrive @ids nvarchar(max), @reason nvarchar(max) = NULL AS
BEGIN
DECLARE @got bigint, @last bigint, @ended bigint, @id uniqueidentifier = NEWID(), @actor nvarchar(510) = ORIGINAL_LOGIN(), @target nvarchar(max) = LEFT(CONCAT(N'messages ', @ids), 255);
SET NOCOUNT ON;
SELECT @ids = coalesce(@ids, N'[]'), @reason = NULLIF(@reason, N'');
EXEC pawl.check_text N'reason', @reason, 1000, 0;
IF (SELECT COUNT(*) FROM OPENJSON(@ids) x) > 1000 EXEC pawl.check_refuse N'ids', N'more than 1000';
EXEC pawl.check_isolation N'redrive';
pawl.begin_own()
EXEC pawl.outbox_dead N'redrive', @ids, NULL, NULL, NULL, NULL, NULL, -1, 1000, 1000, @got OUTPUT, @last OUTPUT, @ended OUTPUT;
EXEC pawl.audit_note @id, @actor, N'redrive', @target, @reason, @got;
pawl.end_own()
RETURN @got;
END
