-- Mark as done what the transaction took. $1 source, $2 message id, $3 token, or
-- null where the transaction holds it: then the attempt counts now. Rows
-- affected: 1, or 0 if it is no longer the caller's. Runs in a caller's transaction.
UPDATE pawl.inbox SET status = 'Done', processed_utc = clock_timestamp(), attempts = attempts + ($3::uuid IS NULL)::integer, token = NULL, locked_until_utc = NULL
 WHERE source = $1 AND message_id = $2 AND status IN ('Seen', 'Processing') AND ($3::uuid IS NULL OR token = $3)
