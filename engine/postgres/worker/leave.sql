-- Process $1 stops.
DELETE FROM pawl.worker_process WHERE id = $1
