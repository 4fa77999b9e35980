SELECT l.concurrency, l.rate, l.period, l.burst, l.next_at, coalesce(u.held, 0) AS held, coalesce(u."rows", 0) AS "rows" FROM pawl.outbox_limit l
  LEFT JOIN (SELECT sum(n) AS held, count(*) AS "rows" FROM pawl.outbox_limit_claim WHERE kind = @kind AND name = @name) u ON l.concurrency IS NOT NULL
 WHERE l.kind = @kind AND l.name = @name
