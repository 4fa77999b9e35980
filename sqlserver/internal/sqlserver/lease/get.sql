DECLARE @OF nvarchar(510) = @name;
SELECT pawl.columns(l), pawl.sure(l.lease_until_utc > @now) AS held, pawl.waiting(l.name) AS waiting
  FROM pawl.lease l WITH (FORCESEEK) WHERE pawl.exactly(l.name, @OF)
