SELECT pawl.outbox_purge(@age, 50 * @look) FROM pawl.job_settle()
