-- Refuse a claim that Go would refuse, and a transaction in which locked rows cannot be
-- passed over.
CREATE PROCEDURE pawl.check_claim @owner uniqueidentifier, @seconds int, @most int, @queue nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.check_id N'owner token', @owner;
EXEC pawl.check_lease @seconds;
IF @most IS NULL
  EXEC pawl.check_null N'batch size', 1;
EXEC pawl.check_text N'queue', @queue, 255, 1;
IF @most < 1
  EXEC pawl.check_refuse N'batch size', N'less than 1';
EXEC pawl.check_isolation N'claim';
END
