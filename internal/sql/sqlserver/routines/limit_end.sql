-- End the limit of a topic or queue. Returns 1, or 0 if there is none.
CREATE PROCEDURE pawl.limit_end @kind nvarchar(20), @name nvarchar(510) AS
BEGIN
DECLARE @got int = 0, @limit bigint, @lock nvarchar(255), @free int, @some int = 1;
pawl.begin_own()
SELECT @limit = l.seq FROM pawl.outbox_limit l WHERE l.kind = @kind AND pawl.exactly(l.name, @name);
IF @limit IS NOT NULL
BEGIN
  pawl.limit_turn(@limit, -1)
  IF @free < 0 THROW 57102, 'chosen as the victim of a deadlock', 1;
  DELETE FROM pawl.outbox_limit WITH (ROWLOCK) WHERE seq = @limit;
  SET @got = @@ROWCOUNT;
  WHILE @some > 0
  BEGIN
    DELETE TOP (1000) FROM pawl.outbox_limit_claim WITH (ROWLOCK) WHERE of_limit = @limit;
    SET @some = @@ROWCOUNT;
  END;
END;
pawl.end_own()
RETURN @got;
END
