SELECT 1 FROM pawl.lease_guard_row(@name, @holder, @token)
