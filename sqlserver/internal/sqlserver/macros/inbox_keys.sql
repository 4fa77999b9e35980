-- inbox_keys()
-- Finds the messages of the inbox among those at the positions @ids, a JSON array.
IF ISJSON(@ids) = 0 EXEC pawl.check_refuse N'ids', N'no JSON array';
INSERT INTO @asked (id)
SELECT DISTINCT TRY_CAST(x.value AS bigint) FROM OPENJSON(@ids) x WHERE TRY_CAST(x.value AS bigint) BETWEEN 1 AND 281474976710655;
SELECT @id = MIN(a.id) FROM @asked a;
WHILE @id IS NOT NULL
BEGIN
  SET @there = 0;
  SELECT @there = 1, @headers = m.headers FROM pawl.outbox_message m WHERE m.id = @id;
  EXEC pawl.inbox_key @headers, @source OUTPUT, @message_id OUTPUT, @hash OUTPUT, @wrong OUTPUT;
  IF @there = 1 AND @wrong IS NULL
    INSERT INTO @found (id, source, message_id, hash) VALUES (@id, @source, @message_id, @hash);
  SELECT @id = MIN(a.id) FROM @asked a WHERE a.id > @id;
END;
INSERT INTO @key (nr, id, source, message_id, hash) SELECT ROW_NUMBER() OVER (ORDER BY f.source, f.message_id, f.id), f.id, f.source, f.message_id, f.hash FROM @found f;
SELECT @last = coalesce(MAX(k.nr), 0) FROM @key k;
