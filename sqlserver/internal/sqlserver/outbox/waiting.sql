SELECT COALESCE(SUM(CAST(x.n AS bigint)), 0) AS n FROM (
  SELECT TOP (@most) r.n FROM pawl.outbox_lane l pawl.unlocked() INNER LOOP JOIN pawl.outbox_ready r pawl.unlocked() ON r.lane = l.id WHERE l.queue = @queue AND r.at <= @now) x
