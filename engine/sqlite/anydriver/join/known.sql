-- Is there a join ?2? One row affected if so. Runs in a caller's transaction,
-- which lets us see nothing but rows affected: hence the update of nothing.
UPDATE pawl.outbox_join SET status = status WHERE join_id = ?2
