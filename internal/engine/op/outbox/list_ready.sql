SELECT pawl.listed(i)
  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < @before AND lo >= @floor AND pawl.same(at > @now, @scheduled) ORDER BY lo DESC pawl.limit(10000)) r
  pawl.each_item(r)
 WHERE i.id < @before AND pawl.matches()
 ORDER BY r.lo DESC, i.id DESC pawl.limit(@most)
