-- Take a lease from whoever has it and raise the token. ?1 now, ?2 name. One row affected if anyone had it.
UPDATE pawl.lease_row SET owner = NULL, holder = NULL, lease_until = NULL, token = token + 1 WHERE name = ?2 AND holder IS NOT NULL
