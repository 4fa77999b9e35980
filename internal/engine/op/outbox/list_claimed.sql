SELECT pawl.listed(i)
  FROM (SELECT lo, n FROM pawl.claim_table() WHERE lo < @before AND lo >= @floor ORDER BY lo DESC pawl.limit(10000)) r
  pawl.each_item(r)
 WHERE i.id < @before AND pawl.matches()
 ORDER BY r.lo DESC, i.id DESC pawl.limit(@most)
