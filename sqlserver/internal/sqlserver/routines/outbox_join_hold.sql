-- Lock a join and then messages of it, a JSON array of positions, until the transaction ends, so that
-- its steps and waits can be redriven. The lock on the join's key is the one that an attach, which
-- shares it, waits for. Messages that are being deleted are left out.
CREATE PROCEDURE pawl.outbox_join_hold @join uniqueidentifier, @ids nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @asked nvarchar(max), @settled nvarchar(max), @gone bigint, @seq bigint;
DECLARE @left TABLE (id bigint NOT NULL PRIMARY KEY);
SELECT @seq = j.seq FROM pawl.outbox_join j WITH (XLOCK, ROWLOCK, FORCESEEK) WHERE j.join_id = @join;
INSERT INTO @left (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
WHILE 1 = 1
BEGIN
  SET @asked = (SELECT l.id FROM @left l ORDER BY l.id FOR JSON PATH);
  EXEC pawl.outbox_hold @asked, @settled OUTPUT, @gone OUTPUT;
  IF @gone IS NULL BREAK;
  DELETE FROM @left WHERE id = @gone;
END;
END
