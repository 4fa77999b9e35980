DELETE FROM pawl.worker_process
