SELECT pawl.job_settle()
