-- Cancel the pending timer of a key. Returns 1, or 0 if there is none.
CREATE PROCEDURE pawl.timer_cancel_row @key nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
DECLARE @id bigint;
SELECT @id = t.id FROM pawl.timer t WITH (FORCESEEK) WHERE pawl.exactly(t."key", @key) AND t."key" IS NOT NULL AND t.status < 2;
UPDATE pawl.timer SET status = 4, processed_at = SYSUTCDATETIME() WHERE id = @id AND status = 0;
RETURN @@ROWCOUNT;
END
