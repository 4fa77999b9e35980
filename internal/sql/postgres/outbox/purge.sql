SELECT pawl.outbox_purge(@age, @look) FROM pawl.job_settle()
