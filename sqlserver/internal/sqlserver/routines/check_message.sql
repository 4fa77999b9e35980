-- Refuse a message that Go would refuse, but for its headers and time. @most is how many
-- bytes its payload may have, as UTF-8.
CREATE PROCEDURE pawl.check_message @topic nvarchar(max), @payload nvarchar(max), @correlation nvarchar(max), @queue nvarchar(max), @priority int, @most bigint AS
BEGIN
SET NOCOUNT ON;
DECLARE @bytes bigint;
EXEC pawl.check_text N'topic', @topic, 255, 1;
EXEC pawl.check_text N'correlation id', @correlation, 255, 0;
EXEC pawl.check_text N'queue', @queue, 255, 1;
IF @priority IS NULL EXEC pawl.check_null N'priority', 1;
IF @priority NOT BETWEEN -100 AND 100 EXEC pawl.check_refuse N'priority', N'not within -100 to 100';
IF @payload IS NULL EXEC pawl.check_null N'payload', 1;
SET @bytes = DATALENGTH(pawl.outbox_utf8(@payload));
EXEC pawl.check_bytes N'payload', @bytes, @most;
END
