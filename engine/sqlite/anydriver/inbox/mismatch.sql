-- Has ?2, ?3 another hash than ?4? One row affected if so: a caller's transaction
-- lets us see nothing else, hence the update of nothing.
UPDATE pawl.inbox SET status = status WHERE source = ?2 AND message_id = ?3 AND hash <> ?4
