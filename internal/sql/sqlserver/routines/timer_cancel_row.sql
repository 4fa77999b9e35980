-- Cancel the pending timer of a key. Returns 1, or 0 if there is none.
CREATE PROCEDURE pawl.timer_cancel_row @key nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
UPDATE pawl.timer SET status = 4, processed_at = SYSUTCDATETIME() WHERE "key" = @key AND "key" IS NOT NULL AND status < 2 AND status = 0;
RETURN @@ROWCOUNT;
END
