SELECT pawl.columns(l), pawl.sure(l.lease_until_utc > @now) AS held, pawl.waiting(l.name) AS waiting
  FROM pawl.lease l
 WHERE l.name > @after
   AND (@state IS NULL OR @state = CASE WHEN l.lease_until_utc > @now THEN 'held' WHEN l.owner IS NOT NULL THEN 'expired' ELSE 'free' END)
 ORDER BY l.name pawl.limit(@most)
