-- exceptions()
-- Records what happened to the messages of @bad, which has their ids, states and retries, when
-- they are tried again, and why, in place of the last reason; and keeps the last @keep attempts
-- that failed, these among them, but for those that have no number.
UPDATE e SET status = b.status, retry_count = b.retry, next_attempt_at = b.at, last_error = coalesce(b.error, e.last_error), fingerprint = CASE WHEN b.error IS NULL THEN e.fingerprint ELSE b.fingerprint END, updated_at = @now
  FROM pawl.outbox_exception e INNER JOIN @bad b ON b.id = e.id;
INSERT INTO pawl.outbox_exception (id, status, retry_count, next_attempt_at, last_error, fingerprint, updated_at)
SELECT b.id, b.status, b.retry, b.at, b.error, b.fingerprint, @now FROM @bad b WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = b.id) ORDER BY b.id;
INSERT INTO pawl.outbox_attempt (id, attempt, ended_at, worker, error)
SELECT b.id, b.attempt, @now, @worker, b.error FROM @bad b WHERE b.attempt IS NOT NULL ORDER BY b.id;
DELETE FROM pawl.outbox_attempt WHERE nr IN (
  SELECT o.nr FROM (SELECT a.nr, ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY a.nr DESC) AS place
                      FROM pawl.outbox_attempt a INNER JOIN @bad b ON b.id = a.id) o WHERE o.place > @keep);
