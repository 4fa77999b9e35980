-- Begin an attempt at ?2, ?3 under token ?4 until ?5, unless ?6 are used up (0:
-- any). ?7 whether one that did not end is the same attempt.
UPDATE pawl.inbox SET attempts = attempts + NOT (?7 AND status = 'Processing'), token = ?4, locked_until_utc = ?5, status = 'Processing'
 WHERE source = ?2 AND message_id = ?3 AND (?6 = 0 OR attempts - (?7 AND status = 'Processing') < ?6)
