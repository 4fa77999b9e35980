-- Enter the line or stay in it, unless the lease is ours by now. $1 name, $2 waiter, $3 for how long.
SELECT pawl.lease_enrol($1, $2, $3)
