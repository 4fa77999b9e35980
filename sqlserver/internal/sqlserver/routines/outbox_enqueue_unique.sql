-- Enqueue one message with a unique key in the caller's transaction, or in one of its own. An
-- earlier message with the key takes its place while it is not done (@scope not_done), while no
-- worker holds it (not_begun) or, with @period_seconds, if it was enqueued less than that ago.
-- @replace: if the earlier one waits it is cancelled, and this one is due when it was. @debounce: if
-- the earlier one waits it becomes due when this one is; with @replace, this one keeps its own time.
-- @message_id is the id of the message that is stored, and @duplicate 1 if it is the earlier one:
-- pass variables as OUTPUT to have them.
CREATE PROCEDURE pawl.outbox_enqueue_unique @topic nvarchar(max), @payload nvarchar(max), @unique_key nvarchar(max), @scope nvarchar(20) = N'not_done', @period_seconds float = NULL,
  @replace bit = 0, @debounce bit = 0, @due_time_utc datetimeoffset = NULL, @queue nvarchar(max) = N'default', @priority int = 0, @correlation_id nvarchar(max) = NULL,
  @headers nvarchar(max) = NULL, @message_id uniqueidentifier = NULL OUTPUT, @duplicate bit = 0 OUTPUT, @max_payload bigint = 1048576 AS
BEGIN
SET NOCOUNT ON;
DECLARE @unbegun bit = CASE WHEN @scope = N'not_begun' THEN 1 ELSE 0 END, @period bigint = 0, @key nvarchar(510);
EXEC pawl.check_text N'unique key', @unique_key, 255, 1;
IF @scope IS NULL OR @scope NOT IN (N'not_done', N'not_begun') EXEC pawl.check_refuse N'scope', N'neither not_done nor not_begun';
IF @replace IS NULL EXEC pawl.check_null N'replace', 1;
IF @debounce IS NULL EXEC pawl.check_null N'debounce', 1;
IF @period_seconds NOT BETWEEN 0.000001 AND 9e9 EXEC pawl.check_refuse N'period', N'not within a microsecond and 9e9 seconds';
IF @period_seconds IS NOT NULL SET @period = CAST(@period_seconds * 1e6 AS bigint);
SELECT @key = @unique_key, @message_id = NULL;
EXEC pawl.outbox_enqueue @topic, @payload, @correlation_id, @due_time_utc, @message_id OUTPUT, @headers, @queue, @priority, @max_payload, @key, @unbegun, @period, @replace, @debounce, @duplicate OUTPUT;
RETURN 0;
END
