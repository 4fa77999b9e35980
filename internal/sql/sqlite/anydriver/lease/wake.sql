-- It notifies nobody itself: the commit wakes the waiters of other processes.
SELECT id FROM pawl.lease_waiter
 WHERE name = @name AND alive_until > @now AND NOT EXISTS (SELECT 1 FROM pawl.lease WHERE name = @name AND lease_until_utc > @now)
 ORDER BY ticket LIMIT 1
