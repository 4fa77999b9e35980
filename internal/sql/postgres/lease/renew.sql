SELECT r.lease_until_utc FROM pawl.lease_renew_row(@name, @holder, @lease) r(lease_until_utc)
