SELECT pawl.columns(w), pawl.truth(w.expires_at > @now) AS alive FROM pawl.worker_process w ORDER BY w.started_at, w.id pawl.limit(@most)
