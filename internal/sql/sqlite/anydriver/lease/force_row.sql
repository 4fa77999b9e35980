UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL, token = token + 1 WHERE name = @name AND holder IS NOT NULL
