SELECT CAST((SELECT j.due_at FROM pawl.job j INDEXED BY pawl.job_due WHERE j.due_at IS NOT NULL AND j.enabled ORDER BY j.due_at LIMIT 1) - @now AS INTEGER) AS micros
