UPDATE pawl.timer SET key = NULL WHERE key = @key AND key IS NOT NULL AND status < 2 AND status = 1
