-- The id of the message by which a message of the inbox is queued, the same for every delivery. Its
-- version is that of ids made from names: in version 8 pawl reads a position. Go's inbox.messageID.
CREATE FUNCTION pawl.inbox_message_id(@source nvarchar(510), @message_id nvarchar(510)) RETURNS uniqueidentifier AS
BEGIN
DECLARE @name varbinary(max) = pawl.outbox_utf8(CONCAT(N'pawl/inbox/', DATALENGTH(pawl.outbox_utf8(@source)), N'/', @source, @message_id));
DECLARE @hex nvarchar(64) = LOWER(CONVERT(nvarchar(64), HASHBYTES('SHA2_256', 0x00000000000000000000000000000000 + @name), 2));
DECLARE @variant nvarchar(1) = SUBSTRING(N'89ab', 1 + (CHARINDEX(SUBSTRING(@hex, 17, 1), N'0123456789abcdef') - 1) % 4, 1);
RETURN CAST(CONCAT(SUBSTRING(@hex, 1, 8), N'-', SUBSTRING(@hex, 9, 4), N'-5', SUBSTRING(@hex, 14, 3), N'-', @variant, SUBSTRING(@hex, 18, 3), N'-', SUBSTRING(@hex, 21, 12)) AS uniqueidentifier);
END
