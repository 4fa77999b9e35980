DECLARE @FROM nvarchar(510) = @source, @OF nvarchar(510) = @message_id;
SELECT pawl.columns(i) FROM pawl.inbox i WITH (FORCESEEK) WHERE pawl.exactly(i.source, @FROM) AND pawl.exactly(i.message_id, @OF)
