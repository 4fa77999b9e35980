-- Wake the first in line if the lease is free. $1 name. At most one row: who it is.
SELECT * FROM pawl.lease_call($1)
