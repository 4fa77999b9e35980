-- Give a dead message a fresh start. $1 source, $2 message id. Runs in a caller's transaction.
UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = $1 AND message_id = $2 AND status = 'Dead'
