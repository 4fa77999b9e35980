-- Store messages with unique keys, one after the other, so that of several with one key each finds
-- the one before. @keys is a JSON array with nr, id, key, unbegun, period (microseconds, 0: none),
-- replace and debounce. Answers those that were not stored, and the message in the place of each.
CREATE PROCEDURE pawl.outbox_enqueue_keyed @messages pawl.outbox_message_list READONLY, @keys nvarchar(max) AS
BEGIN
DECLARE @nr int = -1, @id bigint, @mid uniqueidentifier, @carried bigint, @key nvarchar(510), @unbegun bit, @period bigint, @replace bit, @debounce bit, @due datetime2(7), @earlier uniqueidentifier, @at datetime2(7), @got int;
DECLARE @todo TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, k nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL, unbegun bit NOT NULL, period bigint NOT NULL, replaces bit NOT NULL, debounces bit NOT NULL);
DECLARE @found TABLE (id bigint NOT NULL PRIMARY KEY, message_id uniqueidentifier NOT NULL);
DECLARE @one pawl.outbox_message_list;
pawl.begin_own()
EXEC pawl.check_isolation N'enqueue with a unique key';
INSERT INTO @todo (nr, id, k, unbegun, period, replaces, debounces)
SELECT x.nr, x.id, x."key", x.unbegun, x.period, x."replace", x.debounce FROM OPENJSON(@keys) WITH (nr int, id bigint, "key" nvarchar(510), unbegun bit, period bigint, "replace" bit, debounce bit) x;
WHILE 1 = 1
BEGIN
  SELECT @nr = @nr + 1, @id = NULL;
  SELECT @id = t.id, @key = t.k, @unbegun = t.unbegun, @period = t.period, @replace = t.replaces, @debounce = t.debounces FROM @todo t WHERE t.nr = @nr;
  IF @id IS NULL BREAK;
  SELECT @mid = x.message_id, @carried = x.carried, @due = pawl.from_micros(x.due) FROM @todo t INNER JOIN @messages x ON x.id = t.id WHERE t.nr = @nr;
  EXEC pawl.outbox_unique_take @key, @id, @mid, @carried, @unbegun, @period, @replace, @debounce, @due, @earlier OUTPUT, @at OUTPUT;
  IF @earlier IS NOT NULL
  BEGIN
    INSERT INTO @found (id, message_id) VALUES (@id, @earlier);
    CONTINUE;
  END;
  DELETE FROM @one;
  INSERT INTO @one (id, message_id, topic, correlation_id, headers, payload, lane, due, supplied, carried)
  SELECT x.id, x.message_id, x.topic, x.correlation_id, x.headers, x.payload, x.lane, coalesce(pawl.epoch(@at), x.due), x.supplied, x.carried
    FROM @todo t INNER JOIN @messages x ON x.id = t.id WHERE t.nr = @nr;
  EXEC @got = pawl.outbox_enqueue_once @one;
  IF @got = 0 EXEC pawl.check_refuse N'message id', N'stored without its unique key'; -- nobody gets a key for a message of others
  IF NOT EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @id AND m.message_id = @mid) -- its position was taken: it has another
    UPDATE u SET id = m.id FROM pawl.outbox_unique u INNER JOIN pawl.outbox_message m ON m.message_id = u.message_id AND m.supplied = 1
     WHERE u."key" = @key AND u.size = DATALENGTH(@key);
END;
pawl.end_own()
SELECT f.id, f.message_id FROM @found f;
END
