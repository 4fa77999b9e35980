SELECT pawl.lease_enrol(@name, @waiter, @alive)
