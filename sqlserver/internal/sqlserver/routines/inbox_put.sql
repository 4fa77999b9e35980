-- Store a message that was not seen before. Returns 1, or 0 if it is known by now. What meets
-- the same message in an open transaction waits for that.
CREATE PROCEDURE pawl.inbox_put @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max) AS
BEGIN
SET NOCOUNT ON;
pawl.begin_insert()
INSERT INTO pawl.inbox (source, message_id, hash) VALUES (@source, @message_id, @hash);
pawl.end_insert()
RETURN 1 - @known;
END
