-- Mark a message as done that was taken. Without a token the transaction holds it, and the
-- attempt counts now. Returns 0 if it is no longer the caller's.
CREATE PROCEDURE pawl.inbox_done @source nvarchar(510), @message_id nvarchar(510), @token uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint;
pawl.inbox_seq()
UPDATE pawl.inbox
   SET status = N'Done', processed_utc = SYSUTCDATETIME(), attempts = attempts + CASE WHEN @token IS NULL THEN 1 ELSE 0 END, token = NULL, locked_until_utc = NULL
 WHERE seq = @seq AND status IN (N'Seen', N'Processing') AND (@token IS NULL OR token = @token);
RETURN @@ROWCOUNT;
END
