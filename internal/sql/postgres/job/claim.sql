SELECT pawl.columns(r), r.retry AS retry_count, r.queue AS queue, r.priority AS priority, r.locked_until AS locked_until
  FROM pawl.job_claim_runs(@owner, @lease, @most) r
