UPDATE pawl.lease SET lease_until_utc = @now + @lease WHERE name = @name AND holder = @holder AND lease_until_utc > @now RETURNING lease_until_utc
