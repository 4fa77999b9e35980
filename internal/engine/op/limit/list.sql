SELECT l.kind AS kind, l.name AS name, l.concurrency AS concurrency, l.rate AS rate, pawl.micros(l.period) AS micros, l.burst AS burst, pawl.finite(l.next_at) AS next_at, l.at AS at, l.actor AS actor, l.reason AS reason, l.declared AS declared
  FROM pawl.outbox_limit l WHERE l.pattern = '' ORDER BY l.kind, l.name
