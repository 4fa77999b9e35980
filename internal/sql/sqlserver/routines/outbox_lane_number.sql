-- The number of a queue at a priority: the first 8 bytes of md5('queue/priority').
CREATE FUNCTION pawl.outbox_lane_number(@queue nvarchar(510), @priority int) RETURNS bigint AS
BEGIN
IF @queue COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE Latin1_General_100_BIN2
  RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', CAST(@queue AS varchar(510)) + '/' + CAST(@priority AS varchar(11))), 1, 8) AS bigint);
RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', pawl.outbox_utf8(@queue) + CAST('/' + CAST(@priority AS varchar(11)) AS varbinary(20))), 1, 8) AS bigint);
END
