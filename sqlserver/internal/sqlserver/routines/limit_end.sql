-- End the limit of a topic, each topic of a pattern, or a queue. Returns 1, or 0 if there is none. A
-- topic that a pattern holds for is under that limit then, with what is claimed of it.
CREATE PROCEDURE pawl.limit_end @kind nvarchar(20), @name nvarchar(510) AS
BEGIN
DECLARE @got int, @free int, @seq bigint, @pattern nvarchar(510);
pawl.begin_own()
pawl.limits_turn(N'Exclusive', -1)
IF @free < 0 THROW 57102, 'chosen as the victim of a deadlock', 1;
DELETE FROM pawl.outbox_limit WHERE kind = @kind AND pawl.exactly(name, @name) AND pattern = N'';
SET @got = @@ROWCOUNT;
IF @got > 0
BEGIN
  IF @kind = N'each' DELETE FROM pawl.outbox_limit WHERE pawl.exactly(pattern, @name);
  DELETE FROM pawl.outbox_limit_claim WHERE of_limit NOT IN (SELECT l.seq FROM pawl.outbox_limit l);
  IF @kind <> N'queue' SELECT @seq = MIN(l.seq) FROM pawl.outbox_limit l WHERE l.kind = N'each' AND l.concurrency IS NOT NULL;
  WHILE @seq IS NOT NULL
  BEGIN
    SELECT @pattern = l.name FROM pawl.outbox_limit l WHERE l.seq = @seq;
    EXEC pawl.outbox_limit_hold N'each', @pattern;
    SELECT @seq = MIN(l.seq) FROM pawl.outbox_limit l WHERE l.kind = N'each' AND l.concurrency IS NOT NULL AND l.seq > @seq;
  END;
END;
pawl.end_own()
RETURN @got;
END
