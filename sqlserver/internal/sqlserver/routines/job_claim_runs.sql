-- Take up to @most due runs under a lease of @lease microseconds, for programs that run jobs
-- in a way of their own: a claim like any other, of messages that are runs, suspects (as in
-- outbox_claim_queue_suspects, a run at a time) or others. One that is put back goes to the lane of its
-- message: the pause, whose lane it may have been in, may have ended. @ids: the positions of what
-- was taken, a JSON array of objects with id; null for none.
CREATE PROCEDURE pawl.job_claim_runs @owner uniqueidentifier, @lease bigint, @most int, @ids nvarchar(max) OUTPUT AS
BEGIN
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @suspect int = 0;
pawl.withdraw_tables()
pawl.begin_own()
INSERT INTO @want (id)
SELECT s.id FROM (
  SELECT r.id, ROW_NUMBER() OVER (ORDER BY r.id) AS k, MIN(q.suspect) OVER (ORDER BY r.id ROWS UNBOUNDED PRECEDING) AS most
    FROM pawl.outbox_ready q pawl.unlocked() INNER JOIN pawl.job_run r ON r.id >= q.lo AND r.id < q.lo + q.n
   WHERE q.suspect > 0 AND q.at <= @now AND r.outcome IS NULL) s
 WHERE s.k <= s.most AND s.k <= @most;
IF EXISTS (SELECT 1 FROM @want)
  SET @suspect = 1;
ELSE
  INSERT INTO @want (id)
  SELECT TOP (@most) r.id FROM pawl.job_run r INNER JOIN pawl.outbox_ready q pawl.unlocked() ON pawl.covers(pawl.outbox_ready, q, r.id)
   WHERE r.outcome IS NULL AND q.at <= @now AND q.suspect = 0 ORDER BY r.id;
pawl.withdraw(@now)
IF @suspect = 1 SELECT @suspect = COUNT(*) FROM @out;
SET @now = SYSUTCDATETIME();
INSERT INTO pawl.outbox_claimed (lo, n, lane, at, retry, owner, locked_until, suspect)
SELECT o.id, 1, m.lane, o.at, o.retry, @owner, pawl.plus(@now, @lease), @suspect FROM @out o INNER LOOP JOIN pawl.outbox_message m ON m.id = o.id ORDER BY o.id;
UPDATE pawl.job_run SET start_time = @now WHERE id IN (SELECT o.id FROM @out o) AND start_time IS NULL;
SET @ids = (SELECT o.id FROM @out o ORDER BY o.id FOR JSON PATH);
pawl.end_own()
RETURN 0;
END
