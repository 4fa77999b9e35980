-- Schedule a timer in the caller's transaction. With a key it replaces a pending one of that
-- key. due_time may have an offset from UTC. timer_id is the timer's, and will be the
-- message's as well: one that is given, or the one that pawl makes.
CREATE PROCEDURE pawl.timer_schedule @topic nvarchar(max), @payload nvarchar(max), @due_time datetimeoffset, @correlation_id nvarchar(max) = NULL, @key nvarchar(max) = NULL,
  @timer_id uniqueidentifier = NULL OUTPUT, @headers nvarchar(max) = NULL, @queue nvarchar(max) = N'default', @priority int = 0, @max_payload bigint = 1048576 AS
BEGIN
DECLARE @id bigint, @one int = FLOOR(RAND() * 4096), @two int = FLOOR(RAND() * 16384), @lane bigint, @given bit, @keyed bit = CASE WHEN DATALENGTH(@key) > 0 THEN 1 ELSE 0 END;
DECLARE @timers pawl.timer_list;
SET NOCOUNT ON;
IF @timer_id = CAST(N'00000000-0000-0000-0000-000000000000' AS uniqueidentifier) SET @timer_id = NULL;
IF @due_time IS NULL
  EXEC pawl.check_null N'due time', 1;
EXEC pawl.check_headers @headers OUTPUT;
EXEC pawl.check_message @topic, @payload, @correlation_id, @queue, @priority, @max_payload;
EXEC pawl.check_text N'key', @key, 255, @keyed;
pawl.begin_own()
EXEC pawl.outbox_lane_id @queue, @priority, @lane OUTPUT;
SET @given = CASE WHEN @timer_id IS NULL THEN 0 ELSE 1 END;
SET @id = NEXT VALUE FOR pawl.outbox_single;
IF @given = 0 SET @timer_id = pawl.outbox_new_id(@id, @one, @two);
INSERT INTO @timers (id, timer_id, topic, correlation_id, headers, payload, lane, due, supplied, carried, "key")
VALUES (@id, @timer_id, @topic, CASE WHEN DATALENGTH(@correlation_id) > 0 THEN @correlation_id END, @headers, pawl.outbox_utf8(@payload), @lane, pawl.epoch(pawl.check_due(@due_time)), @given,
  CASE @given WHEN 1 THEN pawl.carried(@timer_id) ELSE 0 END, CASE @keyed WHEN 1 THEN @key END);
EXEC pawl.timer_schedule_rows @timers;
pawl.end_own()
END
