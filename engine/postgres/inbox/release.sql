-- Put a message back whose attempt does not count. $1 source, $2 message id, $3 token.
UPDATE pawl.inbox SET status = 'Seen', attempts = attempts - 1, token = NULL, locked_until_utc = NULL
 WHERE source = $1 AND message_id = $2 AND token = $3 AND status = 'Processing'
