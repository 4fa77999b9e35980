SELECT id, priority FROM pawl.outbox_lane WHERE queue = @queue AND NOT pawl.paused(@queue) ORDER BY priority, id
