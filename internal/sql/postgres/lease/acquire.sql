SELECT token, lease_until_utc FROM pawl.lease_acquire_row(@name, @owner, @holder, @lease)
