SELECT l.kind AS kind, l.name AS name, l.pattern AS pattern, l.concurrency AS concurrency, l.rate AS rate, pawl.micros(l.period) AS micros, pawl.finite(l.next_at) AS next_at, pawl.limit_claimed(l) AS claimed
  FROM pawl.outbox_limit l WHERE l.kind = 'queue' AND l.name = @queue OR l.kind = 'topic' AND l.name = @topic ORDER BY l.kind, l.name
