-- Have a message sent when a join is over. @message_id is the id of the wait afterwards: pass a
-- variable as OUTPUT to have it. What is to be sent is checked now: there will be nobody to
-- tell then.
CREATE PROCEDURE pawl.outbox_join_wait @join_id uniqueidentifier, @on_complete_topic nvarchar(max) = NULL, @on_complete_payload nvarchar(max) = NULL, @on_fail_topic nvarchar(max) = NULL,
  @on_fail_payload nvarchar(max) = NULL, @fail_if_any_step_failed bit = 1, @wait_topic nvarchar(max) = N'join.wait', @queue nvarchar(max) = N'default',
  @message_id uniqueidentifier = NULL OUTPUT AS
BEGIN
DECLARE @known int, @bytes bigint, @payload nvarchar(max), @at bigint, @text nvarchar(2048) = CONCAT(N'join ', LOWER(CAST(@join_id AS nvarchar(36))), N' not found');
DECLARE @complete bit = CASE WHEN @on_complete_topic <> N'' THEN 1 ELSE 0 END, @fail bit = CASE WHEN @on_fail_topic <> N'' THEN 1 ELSE 0 END;
pawl.begin_own()
EXEC pawl.check_id N'join id', @join_id;
IF @fail_if_any_step_failed IS NULL EXEC pawl.check_null N'fail if any step failed', 1;
EXEC pawl.check_text N'topic', @on_complete_topic, 255, @complete;
EXEC pawl.check_text N'topic', @on_fail_topic, 255, @fail;
SET @bytes = DATALENGTH(pawl.outbox_utf8(@on_complete_payload));
EXEC pawl.check_bytes N'payload', @bytes, 1048576;
SET @bytes = DATALENGTH(pawl.outbox_utf8(@on_fail_payload));
EXEC pawl.check_bytes N'payload', @bytes, 1048576;
EXEC @known = pawl.outbox_join_known @join_id;
IF @known = 0 THROW 57121, @text, 1;
SET @payload = (SELECT LOWER(CAST(@join_id AS nvarchar(36))) AS JoinId, @fail_if_any_step_failed AS FailIfAnyStepFailed, @on_complete_topic AS OnCompleteTopic, @on_complete_payload AS OnCompletePayload,
                       @on_fail_topic AS OnFailTopic, @on_fail_payload AS OnFailPayload FOR JSON PATH, WITHOUT_ARRAY_WRAPPER);
SET @message_id = NULL;
EXEC pawl.outbox_enqueue @topic = @wait_topic, @payload = @payload, @message_id = @message_id OUTPUT, @queue = @queue, @max_payload = 1073741823; -- it is larger than what it holds
EXEC pawl.outbox_position @message_id, @at OUTPUT;
EXEC pawl.outbox_join_wait_put @join_id, @at;
pawl.end_own()
RETURN 0;
END
