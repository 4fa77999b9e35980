-- Begin an attempt at ?2, ?3 under token ?4 until ?5, unless ?6 are used up (0: any).
UPDATE pawl.inbox_base SET attempts = attempts + 1, token = ?4, locked_until_utc = ?5, status = 'Processing'
 WHERE source = ?2 AND message_id = ?3 AND (?6 = 0 OR attempts < ?6)
