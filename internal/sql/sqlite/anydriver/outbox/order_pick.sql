SELECT lo, n, lane, at, retry, 0 AS locked_until, suspect FROM pawl.outbox_ready WHERE lane = @lane AND at >= @low AND at <= min(@high, @now) ORDER BY at, lo LIMIT @most
