-- Start a join in the caller's transaction, or in one of its own. Starting one with a known id
-- adds nothing. With a deadline, a message of @wait_topic ends the join then. @join_id is the
-- join's id afterwards: pass a variable as OUTPUT to have it.
CREATE PROCEDURE pawl.outbox_join_start @expected_steps int, @grouping_key nvarchar(max) = NULL, @metadata nvarchar(max) = NULL, @deadline_utc datetimeoffset = NULL,
  @join_id uniqueidentifier = NULL OUTPUT, @wait_topic nvarchar(max) = N'join.wait', @queue nvarchar(max) = N'default' AS
BEGIN
DECLARE @new int, @deadline datetime2(7) = CAST(SWITCHOFFSET(@deadline_utc, 0) AS datetime2(7)), @bytes bigint = DATALENGTH(pawl.outbox_utf8(@metadata)), @payload nvarchar(max), @wait uniqueidentifier, @at bigint;
pawl.begin_own()
IF @expected_steps IS NULL EXEC pawl.check_null N'expected steps', 1;
IF @expected_steps < 1 EXEC pawl.check_refuse N'expected steps', N'not within 1 to 2147483647';
EXEC pawl.check_text N'grouping key', @grouping_key, 255, 0;
EXEC pawl.check_bytes N'metadata', @bytes, 1048576;
EXEC pawl.check_text N'topic', @wait_topic, 255, 1;
EXEC pawl.check_text N'queue', @queue, 255, 1;
IF @deadline < '1970-01-01' SET @deadline = '1970-01-01'; -- it has passed; what reads it takes the year 1 for none
IF @grouping_key = N'' SET @grouping_key = NULL;
IF @join_id IS NULL OR @join_id = CAST(N'00000000-0000-0000-0000-000000000000' AS uniqueidentifier)
  EXEC pawl.outbox_join_new_id @join_id OUTPUT;
EXEC @new = pawl.outbox_join_put @join_id, @grouping_key, @expected_steps, @metadata, @deadline;
IF @new = 1 AND @deadline IS NOT NULL
BEGIN
  SET @payload = CONCAT(N'{"JoinId":"', LOWER(CAST(@join_id AS nvarchar(36))), N'"}');
  EXEC pawl.outbox_enqueue @topic = @wait_topic, @payload = @payload, @due_time_utc = @deadline, @message_id = @wait OUTPUT, @queue = @queue;
  EXEC pawl.outbox_position @wait, @at OUTPUT;
  EXEC pawl.outbox_join_wait_put @join_id, @at;
END;
pawl.end_own()
RETURN 0;
END
