SELECT pawl.elapsed(@now, MIN(j.due_at)) AS micros FROM pawl.job j pawl.unlocked() WHERE j.due_at IS NOT NULL AND j.enabled = 1
