-- Mark a message by hand. Returns 0 if it is done or dead, or unknown.
CREATE PROCEDURE pawl.inbox_mark @source nvarchar(510), @message_id nvarchar(510), @status nvarchar(20) AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint, @now datetime2(7);
pawl.inbox_seq()
SET @now = SYSUTCDATETIME();
UPDATE pawl.inbox
   SET status = @status, attempts = attempts + CASE WHEN @status = N'Processing' THEN 1 ELSE 0 END, token = NULL, locked_until_utc = NULL,
       processed_utc = CASE WHEN @status = N'Done' THEN @now END, last_seen_utc = @now
 WHERE seq = @seq AND status IN (N'Seen', N'Processing');
RETURN @@ROWCOUNT;
END
