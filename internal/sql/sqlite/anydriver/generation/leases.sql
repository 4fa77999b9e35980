UPDATE pawl.lease SET token = max(token + 1, @token), owner = NULL, holder = NULL, lease_until_utc = NULL
