-- Put all messages back whose lease has run out. Returns how many.
CREATE PROCEDURE pawl.outbox_reap_expired AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int = 1, @all int = 0;
EXEC pawl.check_isolation N'reap';
pawl.read_committed()
WHILE @got > 0
BEGIN
  EXEC @got = pawl.outbox_reap_runs 1000;
  SET @all = @all + @got;
END;
RETURN @all;
END
