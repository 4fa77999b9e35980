-- lowest: 5
-- When a message that was discarded had failed, and which entry of the audit trail discarded it: for an
-- hour that can be taken back. Both are null of one that was cancelled.
ALTER TABLE pawl.outbox_exception ADD COLUMN failed_at INTEGER;
ALTER TABLE pawl.outbox_exception ADD COLUMN discard_id BLOB;
