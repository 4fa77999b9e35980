-- exceptions(status)
-- Notes in the exceptions what happened to the messages of @bad, which has their ids, their
-- retries, when they are tried again, and why; another reason takes the place of the last one.
UPDATE e SET status = {status}, retry_count = b.retry, next_attempt_at = b.at, last_error = coalesce(b.error, e.last_error), updated_at = @now
  FROM pawl.outbox_exception e INNER JOIN @bad b ON b.id = e.id;
INSERT INTO pawl.outbox_exception (id, status, retry_count, next_attempt_at, last_error, updated_at)
SELECT b.id, {status}, b.retry, b.at, b.error, @now FROM @bad b WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = b.id) ORDER BY b.id;
