-- The lane of a topic's limit in a queue, made known if it is new. Its name is 'priority/md5 of the
-- topic/limit': only one that ends so is a limit's, whatever is in the queue's name. Not every server
-- that speaks T-SQL converts to hexadecimal.
CREATE PROCEDURE pawl.outbox_limit_lane @queue nvarchar(510), @priority int, @topic nvarchar(510), @lane bigint OUTPUT AS
BEGIN
SET NOCOUNT ON;
DECLARE @hash varbinary(16) = HASHBYTES(N'MD5', pawl.outbox_utf8(@topic)), @name varchar(60) = CONCAT(@priority, '/'), @i int = 1, @c int;
WHILE @i <= 16
BEGIN
  SET @c = CAST(SUBSTRING(@hash, @i, 1) AS int);
  SET @name = @name + SUBSTRING('0123456789abcdef', @c / 16 + 1, 1) + SUBSTRING('0123456789abcdef', @c % 16 + 1, 1);
  SET @i = @i + 1;
END;
SET @lane = pawl.outbox_lane_hash(@queue, @name + '/limit');
EXEC pawl.outbox_lane_put @lane, @queue, @priority, 3, @topic;
END
