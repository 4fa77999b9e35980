SELECT r.lo, r.n, r.lane, r.at, r.retry, 0 AS locked_until, r.suspect FROM pawl.outbox_ready r
 WHERE pawl.covers(pawl.outbox_ready, r, @id) AND (NOT @due OR r.at <= @now)
