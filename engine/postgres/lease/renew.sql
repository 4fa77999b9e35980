-- Lengthen a lease. $1 name, $2 holder, $3 lease. One row, the new end, or none: it is not the holder's.
SELECT * FROM pawl.lease_renew_row($1, $2, $3)
