SELECT pawl.job_fire(@jobs.id, @jobs.version, @jobs.from, @jobs.to, @jobs.due, @runs.job_id, @runs.nominal, @runs.id, @runs.run_id, @runs.missed)
