-- Nobody counts as working.
DELETE FROM pawl.worker_process
