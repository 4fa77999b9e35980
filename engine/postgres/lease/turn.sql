-- May a waiter go? $1 name, $2 waiter. Whether it is in line, how many stand
-- before it, and for how many microseconds the lease is still held. Locks nothing.
SELECT EXISTS (SELECT 1 FROM pawl.lease_waiter w WHERE w.id = $2 AND w.alive_until > clock_timestamp()), pawl.lease_ahead($1, $2),
       coalesce((SELECT (greatest(0, extract(epoch FROM l.lease_until_utc - clock_timestamp())) * 1000000.0)::int8 FROM pawl.lease l WHERE l.name = $1), 0)
