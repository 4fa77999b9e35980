-- Put a message back whose attempt does not count. ?2 source, ?3 message id, ?4 token.
UPDATE pawl.inbox SET status = 'Seen', attempts = attempts - 1, token = NULL, locked_until_utc = NULL
 WHERE source = ?2 AND message_id = ?3 AND token = ?4 AND status = 'Processing'
