DECLARE @OF nvarchar(510) = @name;
SELECT TOP (1) w.id FROM pawl.lease_waiter w WITH (FORCESEEK)
 WHERE pawl.exactly(w.name, @OF) AND w.alive_until > @now
   AND NOT EXISTS (SELECT 1 FROM pawl.lease l WITH (FORCESEEK) WHERE pawl.exactly(l.name, @OF) AND l.lease_until_utc > @now)
 ORDER BY w.ticket
