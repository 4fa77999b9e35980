-- Take the failures of members of a join back (@status 0), or count pending ones as failed (2), a
-- JSON array of positions. It ends no join.
CREATE PROCEDURE pawl.outbox_join_mark @join uniqueidentifier, @ids nvarchar(max), @status int AS
BEGIN
DECLARE @got int = 0, @from bigint = 0, @upto bigint;
DECLARE @step TABLE (seq bigint NOT NULL PRIMARY KEY);
DECLARE @asked TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
INSERT INTO @asked (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
INSERT INTO @step (seq)
SELECT m.seq FROM @asked a INNER LOOP JOIN pawl.outbox_join_member m WITH (FORCESEEK) ON m.id = a.id WHERE m.join_id = @join AND m.status = 2 - @status;
WHILE 1 = 1
BEGIN
  SELECT @upto = MAX(x.seq) FROM (SELECT TOP (1000) s.seq FROM @step s WHERE s.seq > @from ORDER BY s.seq) x;
  IF @upto IS NULL BREAK;
  UPDATE m SET status = @status FROM pawl.outbox_join_member m INNER JOIN @step s ON s.seq = m.seq WHERE s.seq > @from AND s.seq <= @upto;
  SET @got = @got + @@ROWCOUNT;
  SET @from = @upto;
END;
UPDATE pawl.outbox_join SET failed_steps = failed_steps + (@status - 1) * @got WHERE join_id = @join;
pawl.end_own()
RETURN @got;
END
