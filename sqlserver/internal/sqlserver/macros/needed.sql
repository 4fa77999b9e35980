-- needed(lo, n)
-- Does a pending join count on one of these messages?
EXISTS (SELECT 1 FROM pawl.outbox_join_member m INNER JOIN pawl.outbox_join j ON j.join_id = m.join_id WHERE m.id >= {lo} AND m.id < {lo} + {n} AND j.status = 0)
