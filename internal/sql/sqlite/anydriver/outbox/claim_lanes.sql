SELECT id, priority, kind, topic, EXISTS (SELECT 1 FROM pawl.outbox_limit) AS limited
  FROM pawl.outbox_lane WHERE queue = @queue AND kind <> 2 AND NOT pawl.paused(@queue) ORDER BY kind, priority, id
