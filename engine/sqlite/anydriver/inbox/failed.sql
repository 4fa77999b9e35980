-- Put ?2, ?3 back after an attempt, or give it up. ?4 token or null, ?5 error,
-- ?6 for good, ?7 most attempts. One row affected if it was the caller's.
UPDATE pawl.inbox SET attempts = attempts + (?4 IS NULL), last_error = ?5, token = NULL, locked_until_utc = NULL,
  status = CASE WHEN ?6 OR ?7 > 0 AND attempts + (?4 IS NULL) >= ?7 THEN 'Dead' ELSE 'Seen' END
 WHERE source = ?2 AND message_id = ?3 AND status IN ('Seen', 'Processing') AND (?4 IS NULL OR token = ?4)
