SELECT pawl.listed(i) FROM pawl.outbox_exception e pawl.join_row(pawl.outbox_item, i, i.id = e.id)
 WHERE e.status = @status AND e.status >= 3 AND e.id < @before AND e.id >= @floor AND i.id IS NOT NULL AND pawl.matches()
 ORDER BY e.id DESC LIMIT @most
