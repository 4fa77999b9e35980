-- The ordering key in a message's headers, or null: none, or headers that cannot be read.
CREATE FUNCTION pawl.outbox_ordering_key(@headers nvarchar(max)) RETURNS nvarchar(510) AS
BEGIN
DECLARE @key nvarchar(4000);
IF @headers IS NULL OR ISJSON(@headers) = 0 RETURN NULL;
SET @key = JSON_VALUE(@headers, '$."pawl-ordering-key"');
IF @key IS NULL OR DATALENGTH(@key) = 0 OR DATALENGTH(@key) > 1020 RETURN NULL;
RETURN @key;
END
