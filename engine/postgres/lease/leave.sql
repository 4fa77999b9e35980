-- Leave the line. $1 name, $2 waiter.
SELECT pawl.lease_leave($1, $2)
