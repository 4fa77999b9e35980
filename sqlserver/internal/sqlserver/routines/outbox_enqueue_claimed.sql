-- Store a message that is due now, claimed by the loop that is going to handle it, and answer
-- when it was stored. In a paused queue, and under a limit, it is ready instead, and the
-- answer has no row.
CREATE PROCEDURE pawl.outbox_enqueue_claimed @id bigint, @message_id uniqueidentifier, @topic nvarchar(510), @correlation_id nvarchar(510), @headers nvarchar(max), @payload varbinary(max), @lane bigint, @queue nvarchar(510), @owner uniqueidentifier, @lease bigint AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @ready bit = 0;
pawl.begin_own()
INSERT INTO pawl.outbox_message (id, message_id, topic, correlation_id, headers, payload, lane, created_at)
VALUES (@id, @message_id, @topic, @correlation_id, @headers, @payload, @lane, @now);
IF pawl.paused(@queue) OR pawl.under_limit(@queue, @topic) SET @ready = 1;
IF @ready = 1
INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (@lane, @now, @id, 1);
ELSE
INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until) VALUES (@id, 1, @lane, @now, 0, @owner, pawl.plus(@now, @lease));
pawl.end_own()
SELECT @now AS created_at WHERE @ready = 0;
END
