-- Give a dead message a fresh start. Returns 1 if it was dead.
CREATE PROCEDURE pawl.inbox_revive @source nvarchar(510), @message_id nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint;
pawl.inbox_seq()
UPDATE pawl.inbox SET status = N'Seen', attempts = 0 WHERE seq = @seq AND status = N'Dead';
RETURN @@ROWCOUNT;
END
