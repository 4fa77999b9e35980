-- Is somebody else than ?4 at ?2, ?3? ?1 now. One row affected if so.
UPDATE pawl.inbox SET status = status WHERE source = ?2 AND message_id = ?3 AND status = 'Processing' AND token IS NOT ?4 AND locked_until_utc > ?1
