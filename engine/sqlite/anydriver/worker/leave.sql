-- Process ?2 stops. ?1 now.
DELETE FROM pawl.worker_process WHERE id = ?2
