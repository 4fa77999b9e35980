DELETE FROM pawl.lease_waiter
