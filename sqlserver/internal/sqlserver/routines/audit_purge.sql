-- Delete up to @most entries of the audit trail that are older than @age microseconds and a
-- year: whoever cleans up needs no right to the trail. Returns how many.
CREATE PROCEDURE pawl.audit_purge @age bigint, @most int AS
BEGIN
SET NOCOUNT ON;
DECLARE @before datetime2(7) = SYSUTCDATETIME();
IF @age < 31536000000000 SET @age = 31536000000000;
SET @before = pawl.minus(@before, @age);
DELETE FROM pawl.audit_trail WHERE seq IN (SELECT TOP (@most) a.seq FROM pawl.audit_trail a WHERE a.at < @before ORDER BY a.at, a.id);
RETURN @@ROWCOUNT;
END
