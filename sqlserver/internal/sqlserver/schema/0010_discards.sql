-- lowest: 5
-- When a message that was discarded had failed, and which entry of the audit trail discarded it: for an
-- hour that can be taken back. Both are null of one that was cancelled.
ALTER TABLE pawl.outbox_exception ADD failed_at datetime2(7);
ALTER TABLE pawl.outbox_exception ADD discard_id uniqueidentifier;
