SELECT pawl.columns(i)
  FROM (SELECT lo, n FROM pawl.claim_table() WHERE lo < @before AND lo >= @floor ORDER BY lo DESC pawl.limit(10000)) r
  JOIN pawl.outbox_item i ON i.id >= r.lo AND i.id < r.lo + r.n
 WHERE i.id < @before AND pawl.matches()
 ORDER BY i.id DESC pawl.limit(@most)
