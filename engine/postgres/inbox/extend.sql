-- Lengthen the lease of an attempt. $1 source, $2 message id, $3 token, $4 lease.
UPDATE pawl.inbox SET locked_until_utc = clock_timestamp() + $4::interval WHERE source = $1 AND message_id = $2 AND token = $3 AND status = 'Processing'
