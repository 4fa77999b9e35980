SELECT pawl.columns(i) FROM pawl.job_run_item i
 WHERE i.job_name = @name AND pawl.before(i.scheduled_time, i.id, @scheduled_time, @id) ORDER BY i.scheduled_time DESC, i.id DESC pawl.limit(@most)
