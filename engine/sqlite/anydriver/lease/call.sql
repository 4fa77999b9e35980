-- Who is first in line, if the lease is free? ?1 now, ?2 name. At most one row.
-- The commit wakes the sleepers of other processes.
SELECT id FROM pawl.lease_waiter
 WHERE name = ?2 AND alive_until > ?1 AND NOT EXISTS (SELECT 1 FROM pawl.lease_row WHERE name = ?2 AND lease_until > ?1)
 ORDER BY ticket LIMIT 1
