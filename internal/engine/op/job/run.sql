SELECT pawl.columns(i) FROM pawl.job_run_item i WHERE i.id = @id
