-- When the deadline of join ?2 is, if it is pending: no row if not.
SELECT coalesce(deadline_utc, 253402300799000000) FROM pawl.outbox_join WHERE join_id = ?2 AND status = 0
