-- By their ids as well: the owner may hold others from an earlier claim.
SELECT pawl.columns(t), coalesce(l.queue, '') AS queue, coalesce(l.priority, 0) AS priority
  FROM pawl.timer t INDEXED BY pawl.timer_claimed LEFT JOIN pawl.outbox_lane l ON l.id = t.lane
 WHERE t.status = 1 AND t.owner = @owner AND t.id IN (SELECT value FROM json_each(@ids)) ORDER BY t.at, t.id
