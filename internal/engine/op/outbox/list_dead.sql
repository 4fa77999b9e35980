SELECT pawl.listed(i) FROM pawl.outbox_exception e JOIN pawl.outbox_item i ON i.id = e.id
 WHERE e.status = @status AND e.status >= 3 AND e.id < @before AND e.id >= @floor AND pawl.matches()
 ORDER BY e.id DESC pawl.limit(@most)
