-- Refuse a delay, in microseconds, that is negative, or longer than Go can say. Null is the
-- caller's default.
CREATE PROCEDURE pawl.check_delay @delay bigint AS
BEGIN
SET NOCOUNT ON;
IF @delay < 0
  EXEC pawl.check_refuse N'delay', N'negative';
IF @delay > 9151488000000000
  EXEC pawl.check_refuse N'delay', N'more than 290 years';
END
