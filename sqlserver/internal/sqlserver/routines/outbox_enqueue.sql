-- Enqueue one message in the caller's transaction, or in one of its own. A @message_id that is
-- stored already adds nothing, also one that pawl made: that carries its position. @headers
-- is a flat JSON object. @message_id is the message's id afterwards: pass a variable as OUTPUT
-- to have it. @due_time_utc may have another offset. What is behind @max_payload is
-- outbox_enqueue_unique's.
CREATE PROCEDURE pawl.outbox_enqueue @topic nvarchar(max), @payload nvarchar(max), @correlation_id nvarchar(max) = NULL, @due_time_utc datetimeoffset = NULL,
  @message_id uniqueidentifier = NULL OUTPUT, @headers nvarchar(max) = NULL, @queue nvarchar(max) = N'default', @priority int = 0, @max_payload bigint = 1048576,
  @unique_key nvarchar(510) = NULL, @unbegun bit = 0, @period bigint = 0, @replace bit = 0, @debounce bit = 0, @duplicate bit = 0 OUTPUT AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @due datetime2(7) = pawl.check_due(@due_time_utc), @bytes varbinary(max), @lane bigint, @id bigint, @one int = FLOOR(RAND() * 4096), @two int = FLOOR(RAND() * 16384), @text nvarchar(400), @given bit, @taken bigint, @earlier uniqueidentifier, @at datetime2(7), @key nvarchar(4000), @kind int;
SET @duplicate = 0;
pawl.begin_own()
EXEC pawl.check_isolation N'enqueue';
EXEC pawl.check_text N'topic', @topic, 255, 1;
EXEC pawl.check_text N'correlation id', @correlation_id, 255, 0;
EXEC pawl.check_text N'queue', @queue, 255, 1;
IF @priority IS NULL EXEC pawl.check_null N'priority', 1;
IF @priority NOT BETWEEN -100 AND 100 EXEC pawl.check_refuse N'priority', N'not within -100 to 100';
IF @payload IS NULL EXEC pawl.check_null N'payload', 1;
SET @bytes = pawl.outbox_utf8(@payload);
IF DATALENGTH(@bytes) > @max_payload
BEGIN
  SET @text = CONCAT(N'more than ', @max_payload, N' bytes');
  EXEC pawl.check_refuse N'payload', @text;
END;
EXEC pawl.check_headers @headers OUTPUT;
IF ISJSON(@headers) = 1 SET @key = NULLIF(JSON_VALUE(@headers, '$."pawl-ordering-key"'), N'');
IF @key IS NOT NULL EXEC pawl.check_text N'ordering key', @key, 255, 0;
IF @key IS NOT NULL AND @priority <> 0 EXEC pawl.check_refuse N'priority', N'not 0, with an ordering key';
SET @kind = CASE WHEN @key IS NULL THEN 0 ELSE 1 END;
IF @kind = 0 AND @priority = 0 AND ISJSON(@headers) = 1 SET @key = NULLIF(JSON_VALUE(@headers, '$."pawl-fair-key"'), N'');
IF @kind = 0 AND @key IS NOT NULL
BEGIN
  EXEC pawl.check_text N'fair key', @key, 255, 0;
  SET @kind = 1;
END;
IF @message_id = CAST(N'00000000-0000-0000-0000-000000000000' AS uniqueidentifier) SET @message_id = NULL;
SET @given = CASE WHEN @message_id IS NULL THEN 0 ELSE 1 END;
SELECT @lane = l.id FROM pawl.outbox_lane l WHERE pawl.exactly(l.queue, @queue) AND l.kind = @kind AND l.priority = @priority;
IF @lane IS NULL
BEGIN
  SET @lane = pawl.outbox_lane_number(@queue, @priority, @kind);
  EXEC pawl.outbox_lane_put @lane, @queue, @priority, @kind;
END;
IF @given = 1 EXEC pawl.outbox_position @message_id, @id OUTPUT;
IF @given = 1 AND @id IS NULL SELECT @id = t.id FROM pawl.timer t WHERE t.id = pawl.carried(@message_id) AND t.timer_id = @message_id AND t.status < 2;
WHILE @id IS NULL
BEGIN
  IF @given = 1 SELECT @id = m.id FROM pawl.outbox_message m WHERE m.message_id = @message_id AND m.supplied = 1;
  IF @id IS NOT NULL BREAK;
  SET @id = NEXT VALUE FOR pawl.outbox_single;
  WHILE EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @id)
    SET @id = NEXT VALUE FOR pawl.outbox_single;
  IF @given = 0 SET @message_id = pawl.outbox_new_id(@id, @one, @two);
  IF @unique_key IS NOT NULL AND @taken IS NULL
  BEGIN
    EXEC pawl.outbox_unique_take @unique_key, @id, @message_id, 0, @unbegun, @period, @replace, @debounce, @due, @earlier OUTPUT, @at OUTPUT;
    IF @earlier IS NOT NULL
    BEGIN
      SELECT @message_id = @earlier, @duplicate = 1;
      BREAK;
    END;
    SELECT @taken = @id, @due = coalesce(@at, @due);
  END;
  pawl.begin_insert()
  INSERT INTO pawl.outbox_message (id, message_id, supplied, lane, due_at, topic, correlation_id, headers, payload, created_at)
  VALUES (@id, @message_id, @given, @lane, @due, @topic, NULLIF(@correlation_id, N''), @headers, @bytes, @now);
  pawl.end_insert()
  IF @known = 1 -- since the look above: it is to be taken again
  BEGIN
    SET @id = NULL;
    CONTINUE;
  END;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (@lane, coalesce(@due, CASE @kind WHEN 1 THEN pawl.outbox_group_at(@headers) ELSE @now END), @id, 1);
  IF @id <> @taken UPDATE pawl.outbox_unique SET id = @id, message_id = @message_id WHERE "key" = @unique_key AND size = DATALENGTH(@unique_key);
END;
pawl.end_own()
RETURN 0;
END
