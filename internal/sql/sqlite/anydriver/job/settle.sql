-- Failed ones may still be redriven, and their messages stay: they are not recorded yet.
UPDATE pawl.job_run AS r SET outcome = i.status, end_time = i.end_time, retry_count = i.retry_count, claimed_by = i.claimed_by, last_error = i.last_error
  FROM pawl.job_run_item i WHERE r.outcome IS NULL AND i.id = r.id AND i.outcome IS NULL AND i.status IN (2, 4)
