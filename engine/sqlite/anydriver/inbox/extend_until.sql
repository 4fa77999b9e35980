-- Lengthen the lease of an attempt. ?2 source, ?3 message id, ?4 token, ?5 until.
UPDATE pawl.inbox SET locked_until_utc = ?5 WHERE source = ?2 AND message_id = ?3 AND token = ?4 AND status = 'Processing'
