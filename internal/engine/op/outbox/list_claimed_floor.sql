SELECT lo AS floor
  FROM (SELECT lo, sum(n) OVER (ORDER BY lo DESC) AS seen FROM (SELECT lo, n FROM pawl.claim_table() WHERE lo < @before ORDER BY lo DESC pawl.limit(@look)) newest) counted
 WHERE seen >= @look ORDER BY lo DESC pawl.limit(1)
