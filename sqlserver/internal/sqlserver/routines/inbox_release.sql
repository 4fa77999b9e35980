-- Put a message back whose attempt does not count. Returns 0 if it is no longer the caller's.
CREATE PROCEDURE pawl.inbox_release @source nvarchar(510), @message_id nvarchar(510), @token uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint;
pawl.inbox_seq()
UPDATE pawl.inbox SET status = N'Seen', attempts = attempts - 1, token = NULL, locked_until_utc = NULL WHERE seq = @seq AND token = @token AND status = N'Processing';
RETURN @@ROWCOUNT;
END
