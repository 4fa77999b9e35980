-- The number of a queue at a priority: the first 8 bytes of md5('queue/priority'), or of
-- md5('queue/ordered') and md5('queue/waiting') for lanes of kinds 1 and 2, see outbox_lane.
CREATE FUNCTION pawl.outbox_lane_number(@queue nvarchar(510), @priority int, @kind int) RETURNS bigint AS
BEGIN
DECLARE @name varchar(11) = CASE @kind WHEN 0 THEN CAST(@priority AS varchar(11)) WHEN 1 THEN 'ordered' ELSE 'waiting' END;
IF @queue COLLATE Latin1_General_100_BIN2 NOT LIKE N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE Latin1_General_100_BIN2
  RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', CAST(@queue AS varchar(510)) + '/' + @name), 1, 8) AS bigint);
RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', pawl.outbox_utf8(@queue) + CAST('/' + @name AS varbinary(20))), 1, 8) AS bigint);
END
