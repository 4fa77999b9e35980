SELECT pawl.columns(r) FROM pawl.job_claim_runs(@owner, @lease, @most) r
