SELECT c.id FROM pawl.lease_call(@name) c(id)
