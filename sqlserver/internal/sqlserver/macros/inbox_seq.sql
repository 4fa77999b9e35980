-- inbox_seq()
-- Where the message @message_id of @source lies, into @seq.
SET @seq = NULL;
SELECT @seq = i.seq FROM pawl.inbox i WITH (FORCESEEK) WHERE pawl.exactly(i.source, @source) AND pawl.exactly(i.message_id, @message_id);
