SELECT pawl.listed(i) FROM pawl.outbox_item i
 WHERE i.id < @before AND i.id >= @floor AND (@status IS NULL OR i.status = @status) AND pawl.matches()
 ORDER BY i.id DESC pawl.limit(@most)
