DELETE FROM pawl.worker_process WHERE id = @id
