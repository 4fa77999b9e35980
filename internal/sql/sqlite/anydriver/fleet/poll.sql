SELECT min(at) - @now AS micros, (SELECT m.phase FROM pawl.move m) AS phase,
  @now - (SELECT max(w.at) FROM (
    SELECT CASE WHEN min(c.locked_until) > @now THEN @now END AS at FROM pawl.outbox_claim c
    UNION ALL SELECT (SELECT d.processed_at FROM pawl.outbox_done d ORDER BY d.lo DESC LIMIT 1)) w) AS idle FROM (
  SELECT (SELECT min(r.at) FROM pawl.outbox_ready r WHERE r.lane = l.id) AS at FROM pawl.outbox_lane l
           WHERE l.queue IN (SELECT value FROM json_each(@queues)) AND l.kind <> 2 AND NOT pawl.paused(l.queue)
  UNION ALL SELECT min(locked_until) FROM pawl.outbox_claim
  UNION ALL SELECT pawl.next_timer() UNION ALL SELECT pawl.next_job()
  UNION ALL SELECT min(at) FROM pawl.outbox_bulk INDEXED BY pawl.outbox_bulk_due WHERE ended_at IS NULL)
