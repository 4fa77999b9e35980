-- Give a lease back if it is still the holder's. $1 name, $2 holder.
UPDATE pawl.lease SET owner = NULL, holder = NULL, lease_until_utc = NULL WHERE name = $1 AND holder = $2
