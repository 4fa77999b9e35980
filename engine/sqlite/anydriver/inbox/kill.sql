-- Give ?2, ?3 up.
UPDATE pawl.inbox SET status = 'Dead', token = NULL, locked_until_utc = NULL WHERE source = ?2 AND message_id = ?3
