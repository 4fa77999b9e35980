-- Is ?2, ?3 of status ?4? One row affected if so.
UPDATE pawl.inbox SET status = status WHERE source = ?2 AND message_id = ?3 AND status = ?4
