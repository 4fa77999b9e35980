-- Nobody waits for a lease.
DELETE FROM pawl.lease_waiter
