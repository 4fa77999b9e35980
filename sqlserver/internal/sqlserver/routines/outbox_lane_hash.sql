-- The number of a lane with a name: the first 8 bytes of md5('queue/name'), in UTF-8.
CREATE FUNCTION pawl.outbox_lane_hash(@queue nvarchar(510), @name varchar(60)) RETURNS bigint AS
BEGIN
IF @queue COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE Latin1_General_100_BIN2
  RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', CAST(@queue AS varchar(510)) + '/' + @name), 1, 8) AS bigint);
RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', pawl.outbox_utf8(@queue) + CAST('/' + @name AS varbinary(61))), 1, 8) AS bigint);
END
