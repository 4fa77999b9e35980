DECLARE @OF nvarchar(510) = @name;
SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM pawl.lease_waiter w WITH (FORCESEEK) WHERE w.id = @waiter AND w.alive_until > @now) THEN 1 ELSE 0 END AS bit) AS in_line,
       CAST(pawl.ahead(@OF, @waiter) AS bigint) AS ahead,
       coalesce((SELECT CASE WHEN l.lease_until_utc > @now THEN DATEDIFF_BIG(microsecond, @now, l.lease_until_utc) END
                   FROM pawl.lease l WITH (FORCESEEK) WHERE pawl.exactly(l.name, @OF)), 0) AS micros
