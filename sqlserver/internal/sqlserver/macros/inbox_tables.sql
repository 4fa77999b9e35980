-- inbox_tables()
-- What inbox_keys needs: @key are the messages of the inbox among @ids, in the order in which
-- everybody locks them.
DECLARE @asked TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @found TABLE (id bigint NOT NULL PRIMARY KEY, source nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, message_id nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, hash varbinary(max));
DECLARE @key TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, source nvarchar(510) NOT NULL, message_id nvarchar(510) NOT NULL, hash varbinary(max));
DECLARE @id bigint, @headers nvarchar(max), @there bit, @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max), @wrong nvarchar(400), @nr int = 1, @last int;
DECLARE @seq bigint, @lock nvarchar(255), @got int;
