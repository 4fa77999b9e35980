SELECT EXISTS (SELECT 1 FROM pawl.lease_waiter w WHERE w.id = @waiter AND w.alive_until > clock_timestamp()) AS in_line, pawl.lease_ahead(@name, @waiter) AS ahead,
       coalesce((SELECT (greatest(0, extract(epoch FROM l.lease_until_utc - clock_timestamp())) * 1000000.0)::int8 FROM pawl.lease l WHERE l.name = @name), 0) AS micros
