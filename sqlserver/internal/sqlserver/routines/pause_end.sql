-- End a pause: a queue's is over then, what was laid aside of a topic has yet to come back,
-- see outbox_unpark_runs. Returns 1, or 0 if there is none.
CREATE PROCEDURE pawl.pause_end @kind nvarchar(20), @name nvarchar(510) AS
BEGIN
SET NOCOUNT ON;
IF @kind = N'topic'
  UPDATE pawl.outbox_pause SET ending = 1 WHERE kind = @kind AND pawl.exactly(name, @name);
ELSE
  DELETE FROM pawl.outbox_pause WHERE kind = @kind AND pawl.exactly(name, @name);
RETURN @@ROWCOUNT;
END
