-- Put claimed timers back whose lease has run out. Returns how many.
CREATE PROCEDURE pawl.timer_reap_expired AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int = 1, @all int = 0;
EXEC pawl.check_isolation N'reap';
pawl.read_committed()
WHILE @got > 0
BEGIN
  EXEC @got = pawl.timer_reap;
  SET @all = @all + @got;
END;
RETURN @all;
END
