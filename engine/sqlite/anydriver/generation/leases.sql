-- Nobody holds a lease any more, and tokens go on above ?2. ?1 now.
UPDATE pawl.lease SET token = max(token + 1, ?2), owner = NULL, holder = NULL, lease_until_utc = NULL
