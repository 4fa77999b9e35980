SELECT pawl.columns(l), coalesce(l.lease_until_utc > @now, false) AS held, pawl.waiting(l.name) AS waiting
  FROM pawl.lease l WHERE l.name > @after AND (NOT @held OR l.lease_until_utc > @now) ORDER BY l.name LIMIT @most
