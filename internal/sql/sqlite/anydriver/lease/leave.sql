DELETE FROM pawl.lease_waiter WHERE name = @name AND id = @waiter
