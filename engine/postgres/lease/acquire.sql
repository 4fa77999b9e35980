-- Take a lease if it is free and nobody waits in front. $1 name, $2 owner,
-- $3 holder (the acquisition's own id), $4 lease. One row, token and end, or none.
SELECT token, lease_until_utc FROM pawl.lease_acquire_row($1, $2, $3, $4)
