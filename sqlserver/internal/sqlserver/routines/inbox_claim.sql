-- Claim messages of the inbox's queue. Those that were done or given up meanwhile are settled
-- here and not answered; one that somebody is at comes a second later. A claim is an attempt, of
-- which a message has @max_attempts (0: any number), unless its lease runs out: that counts only
-- of one that is claimed alone (outbox_claim). Settle with inbox_ack, inbox_abandon or
-- inbox_fail: they settle both, message and inbox.
CREATE PROCEDURE pawl.inbox_claim @owner_token uniqueidentifier, @lease_seconds int, @batch_size int = 50, @queue nvarchar(max) = N'inbox', @max_attempts int = 10 AS
BEGIN
DECLARE @lease bigint = CAST(@lease_seconds AS bigint) * 1000000, @most int = CASE WHEN @batch_size > 1000 THEN 1000 ELSE @batch_size END, @versioned bit;
DECLARE @n bigint, @claimed nvarchar(max), @nr int = 1, @id bigint, @ids nvarchar(100), @headers nvarchar(max), @retries int, @source nvarchar(510), @message_id nvarchar(510), @hash varbinary(max), @wrong nvarchar(400), @error nvarchar(max), @verdict int;
DECLARE @got TABLE (nr int NOT NULL PRIMARY KEY, id bigint NOT NULL, retries int NOT NULL);
DECLARE @ours TABLE (nr int NOT NULL PRIMARY KEY, source nvarchar(510) NOT NULL, message_id nvarchar(510) NOT NULL, attempts int);
pawl.begin_own()
EXEC pawl.check_isolation N'claim';
pawl.read_committed()
EXEC pawl.check_attempts @max_attempts;
EXEC pawl.check_claim @owner_token, @lease_seconds, @batch_size, @queue;
SELECT @versioned = d.is_read_committed_snapshot_on FROM sys.databases d WHERE d.name = DB_NAME();
EXEC pawl.outbox_reap_runs 100;
EXEC pawl.outbox_claim_queue_suspects @queue, @owner_token, @lease, @most, @versioned, N'runs', 1, @n OUTPUT, @claimed OUTPUT;
IF @n = 0
  EXEC pawl.outbox_claim_queue @queue, @owner_token, @lease, @most, @versioned, N'runs', @claimed OUTPUT;
INSERT INTO @got (nr, id, retries)
SELECT ROW_NUMBER() OVER (ORDER BY CAST(x."key" AS int), k.i), r.lo + k.i, r.retry
  FROM OPENJSON(@claimed) x CROSS APPLY OPENJSON(x.value) WITH (lo bigint, n bigint, retry int) r INNER JOIN pawl.numbers() k ON k.i < r.n;
WHILE 1 = 1
BEGIN
  SELECT @id = NULL, @error = NULL;
  SELECT @id = g.id, @headers = m.headers, @retries = g.retries FROM @got g INNER JOIN pawl.outbox_message m ON m.id = g.id WHERE g.nr = @nr;
  IF @id IS NULL BREAK;
  SET @ids = CONCAT(N'[', @id, N']');
  EXEC pawl.inbox_key @headers, @source OUTPUT, @message_id OUTPUT, @hash OUTPUT, @wrong OUTPUT;
  IF @wrong IS NOT NULL
    SET @error = CONCAT(N'not a message of the inbox: ', @wrong);
  ELSE IF @max_attempts > 0 AND @retries >= @max_attempts
  BEGIN
    -- Its leases ran out, each time that it was claimed alone.
    SET @error = CONCAT(N'lease expired; gave up after ', @retries, N' attempts, the last of which did not end');
    EXEC pawl.inbox_fail_row @source, @message_id, @hash, NULL, @error, 1, @max_attempts;
  END
  ELSE
  BEGIN
    EXEC @verdict = pawl.inbox_take @source, @message_id, @hash, @owner_token, @lease, @max_attempts, 1;
    IF @verdict = 1
      INSERT INTO @ours (nr, source, message_id, attempts)
      SELECT @nr, i.source, i.message_id, i.attempts FROM pawl.inbox i WITH (FORCESEEK) WHERE pawl.exactly(i.source, @source) AND pawl.exactly(i.message_id, @message_id);
    ELSE IF @verdict = 2
      EXEC pawl.outbox_ack @owner_token, @ids;
    ELSE IF @verdict = 3
      SET @error = N'message is dead';
    ELSE IF @verdict = 4
      SET @error = N'message has another hash than at first';
    ELSE
      EXEC pawl.outbox_release @owner_token, @ids, 1;
  END;
  IF @error IS NOT NULL
    EXEC pawl.outbox_fail @owner_token, @ids, @error;
  SET @nr = @nr + 1;
END;
pawl.end_own()
SELECT m.id, o.source, o.message_id, m.topic, pawl.outbox_text(m.payload) AS payload, m.correlation_id, m.headers, m.created_at, m.due_at AS due_time_utc, o.attempts
  FROM @ours o INNER JOIN @got g ON g.nr = o.nr INNER LOOP JOIN pawl.outbox_message m ON m.id = g.id ORDER BY o.nr;
END
