-- The key of a message of the inbox, from its headers, as Go's package inbox writes them; @wrong
-- says why there is none. It throws nothing: that could end the transaction.
CREATE PROCEDURE pawl.inbox_key @headers nvarchar(max), @source nvarchar(510) OUTPUT, @message_id nvarchar(510) OUTPUT, @hash varbinary(max) OUTPUT, @wrong nvarchar(400) OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @from nvarchar(max), @id nvarchar(max), @hex nvarchar(max);
SELECT @source = NULL, @message_id = NULL, @hash = NULL, @wrong = NULL;
IF @headers IS NOT NULL AND ISJSON(@headers) = 0
BEGIN
  SET @wrong = N'its headers are not JSON';
  RETURN;
END;
SELECT @from = JSON_VALUE(@headers, N'$."pawl-inbox-source"'), @id = JSON_VALUE(@headers, N'$."pawl-inbox-message-id"'),
       @hex = coalesce(JSON_VALUE(@headers, N'$."pawl-inbox-hash"'), N'');
EXEC pawl.check_fault @from, 255, 1, @wrong OUTPUT;
IF @wrong IS NOT NULL
  SET @wrong = CONCAT(N'invalid argument: source: ', @wrong);
ELSE
BEGIN
  EXEC pawl.check_fault @id, 255, 1, @wrong OUTPUT;
  IF @wrong IS NOT NULL
    SET @wrong = CONCAT(N'invalid argument: message id: ', @wrong);
  ELSE IF LEN(@hex) > 128 OR LEN(@hex) % 2 = 1 OR @hex COLLATE Latin1_General_100_BIN2 LIKE N'%[^0-9a-fA-F]%'
    SET @wrong = N'its hash is not hexadecimal';
END;
IF @wrong IS NOT NULL RETURN;
SELECT @source = @from, @message_id = @id;
IF @hex <> N'' SET @hash = CONVERT(varbinary(64), @hex, 2);
END
