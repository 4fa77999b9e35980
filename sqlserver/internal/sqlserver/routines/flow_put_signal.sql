-- Send a flow a signal, and make it due if it waits for that. The signal whose name is empty cancels: it
-- is waited for by everything that is not claimed. Returns 0 for a message that is unknown, 2 for one
-- that is over, and otherwise 1.
CREATE PROCEDURE pawl.flow_put_signal @message uniqueidentifier, @name nvarchar(510), @payload varbinary(max) AS
BEGIN
DECLARE @got int = 0, @lock nvarchar(255), @free int, @id bigint, @lane bigint, @at datetime2(7);
pawl.begin_own()
EXEC pawl.outbox_position @message, @id OUTPUT;
IF @id IS NOT NULL
BEGIN
  pawl.flow_lock(@id, -1)
  SET @got = 2;
END;
IF @got = 2 AND NOT pawl.settled(@id)
BEGIN
  IF @name = N'' AND NOT EXISTS (SELECT 1 FROM pawl.outbox_stopping s WITH (UPDLOCK, HOLDLOCK) WHERE s.id = @id)
    INSERT INTO pawl.outbox_stopping (id, owner, reason) SELECT @id, c.owner, N'' FROM pawl.run_of(pawl.outbox_claimed, @id) c WHERE c.lo + c.n > @id;
  INSERT INTO pawl.flow_signal (id, nr, name, payload)
  SELECT @id, 1 + coalesce((SELECT MAX(s.nr) FROM pawl.flow_signal s WHERE s.id = @id), 0), @name, @payload;
  SELECT @lane = r.lane, @at = r.at FROM pawl.outbox_ready r WITH (FORCESEEK) WHERE r.lo = @id AND r.n = 1 AND r.at > SYSUTCDATETIME();
  IF @lane IS NOT NULL AND (@name = N'' OR EXISTS (SELECT 1 FROM pawl.flow_wait w WHERE w.id = @id AND pawl.exactly(w.name, @name)))
  BEGIN
    UPDATE pawl.outbox_ready WITH (ROWLOCK) SET at = SYSUTCDATETIME() WHERE lane = @lane AND at = @at AND lo = @id AND n = 1;
    DELETE FROM pawl.flow_wait WHERE id = @id;
  END;
  SET @got = 1;
END;
pawl.end_own()
RETURN @got;
END
