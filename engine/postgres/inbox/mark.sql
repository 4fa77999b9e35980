-- Mark by hand. $1 source, $2 message id, $3 status: Processing, Done or Dead.
-- Done and dead ones stay what they are. Runs in a caller's transaction.
UPDATE pawl.inbox SET status = $3, attempts = attempts + ($3::text = 'Processing')::integer, token = NULL, locked_until_utc = NULL,
  processed_utc = CASE WHEN $3::text = 'Done' THEN clock_timestamp() END, last_seen_utc = clock_timestamp()
 WHERE source = $1 AND message_id = $2 AND status IN ('Seen', 'Processing')
