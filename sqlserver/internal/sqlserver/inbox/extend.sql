SET NOCOUNT ON;
DECLARE @SEQ bigint, @FROM nvarchar(510) = @source, @OF nvarchar(510) = @message_id;
SELECT @SEQ = i.seq FROM pawl.inbox i WITH (FORCESEEK) WHERE pawl.exactly(i.source, @FROM) AND pawl.exactly(i.message_id, @OF);
SET NOCOUNT OFF;
UPDATE pawl.inbox SET locked_until_utc = pawl.plus(@now, @lease) WHERE seq = @SEQ AND token = @token AND status = N'Processing'
