-- When a message becomes ready that takes turns and is due at once: with a fair key, and no ordering key, as
-- ordering.FairAt has it, else at_once.
CREATE FUNCTION pawl.outbox_group_at(@headers nvarchar(max)) RETURNS datetime2(7) AS
BEGIN
DECLARE @key nvarchar(4000), @micros bigint;
IF @headers IS NULL OR ISJSON(@headers) = 0 RETURN pawl.at_once();
SET @key = JSON_VALUE(@headers, '$."pawl-fair-key"');
IF @key IS NULL OR DATALENGTH(@key) = 0 OR JSON_VALUE(@headers, '$."pawl-ordering-key"') <> N'' RETURN pawl.at_once();
SET @micros = 4294967297 + CAST(SUBSTRING(HASHBYTES('MD5', pawl.outbox_utf8(@key)), 1, 4) AS bigint);
RETURN DATEADD(microsecond, -CAST(@micros % 1000000 AS int), DATEADD(second, -CAST(@micros / 1000000 AS int), pawl.at_once()));
END
