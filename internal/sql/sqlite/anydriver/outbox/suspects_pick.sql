SELECT lo, n, lane, at, retry, 0 AS locked_until, suspect FROM pawl.outbox_ready INDEXED BY pawl.outbox_ready_suspect
 WHERE lane = @lane AND suspect > 0 AND at <= @now ORDER BY at, lo
