SELECT pawl.columns(w), w.expires_at > @now AS alive FROM pawl.worker_process w ORDER BY w.started_at, w.id LIMIT @most
