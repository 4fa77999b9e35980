SELECT pawl.listed(i)
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < @before AND lo >= @floor AND pawl.same(at > @now, @later) AND (at <= @now OR pawl.same(retry > 0, @retrying))
         ORDER BY lo DESC pawl.limit(10000)) r
  pawl.each_item(r)
 WHERE i.id < @before AND pawl.matches()
   AND (@failed_since IS NULL OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = i.id AND e.updated_at >= @failed_since))
   AND (@failed_before IS NULL OR EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = i.id AND e.updated_at < @failed_before))
 ORDER BY r.lo DESC, i.id DESC pawl.limit(@most)
