-- The number of a queue at a priority: the first 8 bytes of md5('queue/priority').
CREATE FUNCTION pawl.outbox_lane_number(@queue nvarchar(510), @priority int) RETURNS bigint AS
BEGIN
RETURN CAST(SUBSTRING(HASHBYTES(N'MD5', pawl.outbox_utf8(@queue) + CAST('/' + CAST(@priority AS varchar(11)) AS varbinary(20))), 1, 8) AS bigint);
END
