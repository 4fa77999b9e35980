SELECT pawl.columns(l), pawl.sure(l.lease_until_utc > @now) AS held, pawl.waiting(l.name) AS waiting
  FROM pawl.lease l WHERE l.name = @name
