SELECT EXISTS (SELECT 1 FROM pawl.lease_waiter WHERE id = @waiter AND alive_until > @now) AS in_line,
       (SELECT count(*) FROM pawl.lease_waiter WHERE name = @name AND alive_until > @now AND ticket < (SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = @waiter)) AS ahead,
       coalesce((SELECT max(0, lease_until_utc - @now) FROM pawl.lease WHERE name = @name), 0) AS micros
