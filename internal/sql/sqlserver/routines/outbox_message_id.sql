-- A message id that carries its position: UUID version 8, see docs/layout.md.
CREATE PROCEDURE pawl.outbox_message_id @id bigint, @message uniqueidentifier OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @time varchar(16) = pawl.outbox_hex(DATEDIFF_BIG(millisecond, '1970-01-01', SYSUTCDATETIME()), 12), @random binary(16) = CAST(NEWID() AS binary(16));
DECLARE @some int = CAST(SUBSTRING(@random, 1, 2) AS int) & 4095, @more int = CAST(SUBSTRING(@random, 3, 2) AS int) & 16383;
SET @message = CAST(LEFT(@time, 8) + '-' + RIGHT(@time, 4) + '-8' + pawl.outbox_hex(@some, 3) + '-' + pawl.outbox_hex(32768 + @more, 4) + '-' + pawl.outbox_hex(@id, 12) AS uniqueidentifier);
END
