SELECT id, priority, kind FROM pawl.outbox_lane WHERE queue = @queue AND kind < 2 AND NOT pawl.paused(@queue) ORDER BY kind, priority, id
