-- Take a lease from whoever has it and raise the token. $1 name. One row if anyone had it.
SELECT 1 FROM pawl.lease_force($1)
