UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL WHERE name = @name AND holder = @holder
