-- Refuse a claim that Go would refuse.
CREATE PROCEDURE pawl.check_claim @owner uniqueidentifier, @seconds int, @n int, @queue nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
EXEC pawl.check_id N'owner token', @owner;
EXEC pawl.check_lease @seconds;
IF @n IS NULL EXEC pawl.check_null N'batch size', 1;
IF @n < 1 EXEC pawl.check_refuse N'batch size', N'less than 1';
EXEC pawl.check_text N'queue', @queue, 255, 1;
END
