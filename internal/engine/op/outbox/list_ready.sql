SELECT pawl.columns(i)
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < @before AND lo >= @floor AND (at > @now) = @scheduled ORDER BY lo DESC LIMIT 10000) r
  JOIN pawl.outbox_item i ON i.id >= r.lo AND i.id < r.lo + r.n
 WHERE i.id < @before AND pawl.matches()
 ORDER BY i.id DESC LIMIT @most
