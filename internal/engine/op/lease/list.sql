SELECT pawl.columns(l), pawl.sure(l.lease_until_utc > @now) AS held, pawl.waiting(l.name) AS waiting
  FROM pawl.lease l WHERE l.name > @after AND (NOT pawl.is(@held) OR l.lease_until_utc > @now) ORDER BY l.name pawl.limit(@most)
