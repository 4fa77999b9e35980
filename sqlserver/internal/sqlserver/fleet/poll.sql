-- Ids of messages that are enqueued through SQL are above 2^47: the newest done one may be on either side.
SET NOCOUNT ON;
DECLARE @OF TABLE (queue nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL);
INSERT INTO @OF (queue) SELECT x.value FROM OPENJSON(@queues) x;
SELECT pawl.elapsed(@now, MIN(f.at)) AS micros, (SELECT m.phase FROM pawl.move m) AS phase, (
  SELECT pawl.elapsed(MAX(w.at), @now) FROM (
    SELECT CASE WHEN MIN(c.locked_until) > @now THEN @now END AS at FROM pawl.outbox_claimed c pawl.unlocked()
    UNION ALL SELECT l.processed_at FROM (SELECT TOP (1) d.processed_at FROM pawl.outbox_done d pawl.unlocked() WHERE d.lo < 140737488355328 ORDER BY d.lo DESC) l
    UNION ALL SELECT h.processed_at FROM (SELECT TOP (1) d.processed_at FROM pawl.outbox_done d pawl.unlocked() WHERE d.lo >= 140737488355328 ORDER BY d.lo DESC) h) w) AS idle
  FROM (
  SELECT MIN(r.at) AS at FROM pawl.outbox_lane l CROSS APPLY (SELECT TOP (1) x.at FROM pawl.outbox_ready x pawl.unlocked() WHERE x.lane = l.id ORDER BY x.at) r
   WHERE l.queue IN (SELECT o.queue FROM @OF o) AND l.kind <> 2 AND NOT pawl.paused(l.queue)
  UNION ALL SELECT MIN(c.locked_until) FROM pawl.outbox_claimed c pawl.unlocked()
  UNION ALL SELECT pawl.next_timer() UNION ALL SELECT pawl.next_job()
  UNION ALL SELECT MIN(b.at) FROM pawl.outbox_bulk b pawl.unlocked() WHERE b.ended_at IS NULL) f
