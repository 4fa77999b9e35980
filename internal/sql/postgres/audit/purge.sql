SELECT pawl.audit_purge(@age, @most)
