-- Mark messages, a JSON array of their ids, as handled. Returns how many of them @owner_token
-- held.
CREATE PROCEDURE pawl.outbox_ack @owner_token uniqueidentifier, @ids nvarchar(max), @processed_by nvarchar(max) = NULL AS
BEGIN
DECLARE @runs nvarchar(max), @got int;
pawl.begin_own()
EXEC pawl.check_isolation N'ack';
EXEC pawl.check_text N'processed by', @processed_by, 255, 0;
EXEC pawl.outbox_runs @owner_token, @ids, NULL, NULL, @runs OUTPUT;
EXEC pawl.activity_count @runs, N'done';
EXEC @got = pawl.outbox_ack_runs @runs, @processed_by, NULL;
pawl.end_own()
RETURN @got;
END
