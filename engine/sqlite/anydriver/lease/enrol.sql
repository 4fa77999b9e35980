-- Enter the line or stay in it, unless the lease is ours by now. ?1 now, ?2 name, ?3 waiter, ?4 for how long.
INSERT INTO pawl.lease_waiter (name, id, alive_until)
SELECT ?2, ?3, ?1 + ?4 WHERE NOT EXISTS (SELECT 1 FROM pawl.lease_row WHERE name = ?2 AND holder = ?3)
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until
