-- Failed messages behind position @after that a filter chooses, up to @most of them,
-- looking at @look: count them, give them up, or give them a fresh start and take their
-- failures back in joins that are still pending (D-38). @ids is a JSON array of positions;
-- null is any. @got: how many; @last: where to go on, null at the end;
-- @discarded, if positive: those that were discarded so many microseconds ago at most, once they had
-- failed, by the act @act if there is one; they fail again, and runs of jobs are followed again. The act that discards is @by.
-- @ended: how many of them are failed steps of failed joins.
CREATE PROCEDURE pawl.outbox_dead @what nvarchar(10), @ids nvarchar(max), @topic nvarchar(510), @queue nvarchar(510), @error nvarchar(max), @since datetime2(7), @before datetime2(7),
  @after bigint, @look int, @most bigint, @got bigint OUTPUT, @last bigint OUTPUT, @ended bigint OUTPUT, @fingerprint nvarchar(400) = NULL, @discarded bigint = 0, @act uniqueidentifier = NULL, @by uniqueidentifier = NULL AS
BEGIN
DECLARE @now datetime2(7), @seen int, @high bigint, @json nvarchar(max), @all bit = CASE WHEN @ids IS NULL THEN 1 ELSE 0 END, @status smallint = CASE WHEN @discarded > 0 THEN 4 ELSE 3 END, @from datetime2(7) = pawl.minus(SYSUTCDATETIME(), @discarded);
DECLARE @want TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @found TABLE (id bigint NOT NULL PRIMARY KEY, last_error nvarchar(max) COLLATE Latin1_General_100_BIN2, fingerprint nvarchar(400) COLLATE Latin1_General_100_BIN2, updated_at datetime2(7) NOT NULL, failed_at datetime2(7), discard_id uniqueidentifier);
DECLARE @pick TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @done TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
IF @all = 1
  INSERT INTO @found (id, last_error, fingerprint, updated_at, failed_at, discard_id)
  SELECT TOP (@look) x.id, x.last_error, x.fingerprint, x.updated_at, x.failed_at, x.discard_id FROM pawl.outbox_exception x WHERE x.status >= 3 AND x.status = @status AND x.id > @after ORDER BY x.id;
ELSE
  INSERT INTO @found (id, last_error, fingerprint, updated_at, failed_at, discard_id)
  SELECT TOP (@look) x.id, x.last_error, x.fingerprint, x.updated_at, x.failed_at, x.discard_id FROM @want w INNER JOIN pawl.outbox_exception x ON x.id = w.id WHERE x.status = @status AND x.id > @after ORDER BY x.id;
SELECT @seen = COUNT(*), @high = MAX(f.id) FROM @found f;
INSERT INTO @pick (id)
SELECT TOP (@most) f.id FROM @found f INNER JOIN pawl.outbox_message m ON m.id = f.id LEFT JOIN pawl.outbox_lane l ON l.id = m.lane
 WHERE (@topic IS NULL OR m.topic = @topic) AND (@queue IS NULL OR pawl.exactly(l.queue, @queue)) AND (@error IS NULL OR pawl.contains(f.last_error, @error)) AND (@fingerprint IS NULL OR pawl.print(f) = @fingerprint)
   AND (@since IS NULL OR coalesce(f.failed_at, f.updated_at) >= @since) AND (@before IS NULL OR coalesce(f.failed_at, f.updated_at) < @before)
   AND (@status = 3 OR f.failed_at IS NOT NULL AND f.updated_at >= @from AND (@act IS NULL OR f.discard_id = @act)
        AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_waiting w WHERE w.id = f.id AND w.replaced = 1))
 ORDER BY f.id;
SELECT @got = COUNT(*), @last = MAX(p.id) FROM @pick p;
IF @got < @most
  SET @last = CASE WHEN @seen >= @look THEN @high END;
SELECT @ended = COUNT(*) FROM @pick p
 WHERE EXISTS (SELECT 1 FROM pawl.outbox_join_member m INNER JOIN pawl.outbox_join j ON j.join_id = m.join_id WHERE m.id = p.id AND m.status = 2 AND j.status = 2);
SET @now = SYSUTCDATETIME();
IF @what = N'discard'
BEGIN
  UPDATE pawl.outbox_exception SET status = 4, next_attempt_at = NULL, failed_at = updated_at, discard_id = @by, updated_at = @now
  OUTPUT inserted.id INTO @done (id)
   WHERE id IN (SELECT p.id FROM @pick p) AND status = 3;
  SELECT @got = COUNT(*) FROM @done;
  IF EXISTS (SELECT 1 FROM @done d WHERE EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = d.id)) -- it held its ordering key
  BEGIN
    SET @json = (SELECT d.id AS lo, 1 AS n FROM @done d ORDER BY d.id FOR JSON PATH);
    EXEC pawl.outbox_order_release @json;
  END;
END;
IF @what = N'undiscard'
BEGIN
  UPDATE pawl.outbox_exception SET status = 3, updated_at = failed_at, failed_at = NULL, discard_id = NULL
  OUTPUT inserted.id INTO @done (id)
   WHERE id IN (SELECT p.id FROM @pick p) AND status = 4 AND failed_at IS NOT NULL;
  SELECT @got = COUNT(*) FROM @done;
  UPDATE pawl.job_run SET outcome = NULL, end_time = NULL WHERE id IN (SELECT d.id FROM @done d) AND outcome = 4;
END;
IF @what = N'redrive'
BEGIN
  UPDATE pawl.outbox_exception SET status = 0, retry_count = 0, next_attempt_at = @now, redrives = redrives + 1, updated_at = @now
  OUTPUT inserted.id INTO @done (id)
   WHERE id IN (SELECT p.id FROM @pick p) AND status = 3;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) SELECT m.lane, @now, m.id, 1 FROM @done d INNER JOIN pawl.outbox_message m ON m.id = d.id;
  SELECT @got = COUNT(*) FROM @done;
  IF EXISTS (SELECT 1 FROM @done d INNER JOIN pawl.outbox_join_member m ON m.id = d.id WHERE m.status = 2)
  BEGIN
    SET @json = (SELECT d.id FROM @done d ORDER BY d.id FOR JSON PATH);
    EXEC pawl.outbox_join_reopen @json;
  END;
  DELETE s FROM @done d INNER LOOP JOIN pawl.flow_step s WITH (FORCESEEK) ON s.id = d.id
   WHERE s.kind IN (1, 4) OR EXISTS (SELECT 1 FROM pawl.flow_step x WITH (FORCESEEK) WHERE x.id = d.id AND RIGHT(x.name, 5) = N'#undo');
  DELETE g FROM @done d INNER LOOP JOIN pawl.flow_signal g WITH (FORCESEEK) ON g.id = d.id WHERE g.name = N'';
END;
pawl.end_own()
END
