SELECT pawl.micros(least((SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0), (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1)) - @now) AS micros
