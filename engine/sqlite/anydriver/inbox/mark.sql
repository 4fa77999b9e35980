-- Mark by hand. ?1 now, ?2 source, ?3 message id, ?4 status: Processing, Done or
-- Dead. Done and dead ones stay what they are. Runs in a caller's transaction.
UPDATE pawl.inbox SET status = ?4, attempts = attempts + (?4 = 'Processing'), token = NULL, locked_until_utc = NULL,
  processed_utc = CASE WHEN ?4 = 'Done' THEN ?1 END, last_seen_utc = ?1
 WHERE source = ?2 AND message_id = ?3 AND status IN ('Seen', 'Processing')
