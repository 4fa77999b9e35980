-- Give a dead message a fresh start. ?2 source, ?3 message id. One row affected if it was dead.
UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = ?2 AND message_id = ?3 AND status = 'Dead'
