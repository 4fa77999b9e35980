-- Mark as done what the transaction took. ?1 now, ?2 source, ?3 message id,
-- ?4 token, or null where the transaction holds it: then the attempt counts now.
-- Rows affected: 1, or 0 if it is no longer the caller's. Runs in a caller's transaction.
UPDATE pawl.inbox SET status = 'Done', processed_utc = ?1, attempts = attempts + (?4 IS NULL), token = NULL, locked_until_utc = NULL
 WHERE source = ?2 AND message_id = ?3 AND status IN ('Seen', 'Processing') AND (?4 IS NULL OR token = ?4)
