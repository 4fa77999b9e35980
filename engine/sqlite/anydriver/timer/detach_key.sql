-- Part the timer of key ?2 that somebody is firing from its key. ?1 now.
UPDATE pawl.timer SET key = NULL WHERE key = ?2 AND key IS NOT NULL AND status < 2 AND status = 1
