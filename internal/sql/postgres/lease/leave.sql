SELECT pawl.lease_leave(@name, @waiter)
