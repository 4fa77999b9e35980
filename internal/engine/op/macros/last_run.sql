-- last_run(job, value)
(SELECT {value} FROM pawl.job_run_item i WHERE i.id = {job}.last_run)
