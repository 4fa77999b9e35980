-- Store a message from elsewhere for the inbox's workers, in the caller's transaction, once. Returns 1,
-- or 0 if it is known already. One whose hash is another than at first is refused. @headers is a flat
-- JSON object.
CREATE PROCEDURE pawl.inbox_enqueue @source nvarchar(max), @message_id nvarchar(max), @topic nvarchar(max), @payload nvarchar(max), @hash varbinary(max) = NULL, @correlation_id nvarchar(max) = NULL,
  @due_time_utc datetimeoffset = NULL, @headers nvarchar(max) = NULL, @queue nvarchar(max) = N'inbox', @priority int = 0 AS
BEGIN
DECLARE @got int, @id uniqueidentifier, @seen bigint, @known bit = 0, @hex nvarchar(128);
SET NOCOUNT ON;
EXEC pawl.check_text N'source', @source, 255, 1;
EXEC pawl.check_text N'message id', @message_id, 255, 1;
IF DATALENGTH(@hash) > 64 EXEC pawl.check_refuse N'hash', N'more than 64 bytes';
IF DATALENGTH(@hash) = 0 SET @hash = NULL;
EXEC pawl.check_headers @headers OUTPUT;
IF @headers IS NULL SET @headers = N'{}';
IF JSON_VALUE(@headers, N'$."pawl-expires"') IS NOT NULL EXEC pawl.check_refuse N'headers', N'pawl-expires: messages of an inbox do not expire';
SET @headers = JSON_MODIFY(JSON_MODIFY(@headers, N'$."pawl-inbox-source"', @source), N'$."pawl-inbox-message-id"', @message_id);
SET @hex = LOWER(CONVERT(nvarchar(128), @hash, 2));
IF @hex IS NOT NULL SET @headers = JSON_MODIFY(@headers, N'$."pawl-inbox-hash"', @hex);
SET @id = pawl.inbox_message_id(@source, @message_id);
pawl.begin_own()
EXEC @got = pawl.inbox_see @source, @message_id, @hash;
IF @got = 4 EXEC pawl.check_refuse N'hash', N'another than at first';
EXEC pawl.outbox_position @id, @seen OUTPUT;
IF @got = 2 OR @seen IS NOT NULL SET @known = 1;
IF @got <> 2 EXEC pawl.outbox_enqueue @topic, @payload, @correlation_id, @due_time_utc, @id, @headers, @queue, @priority;
pawl.end_own()
RETURN 1 - @known;
END
