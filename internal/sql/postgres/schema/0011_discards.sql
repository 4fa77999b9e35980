-- lowest: 5
-- When a message that was discarded had failed, and which entry of the audit trail discarded it: for an
-- hour that can be taken back. Both are null of one that was cancelled. Routines that have other
-- parameters now: replacing them would leave the old ones beside them.
DROP FUNCTION IF EXISTS pawl.outbox_dead_pick(bigint[], text, text, text, timestamptz, timestamptz, bigint, integer, bigint, text);
DROP FUNCTION IF EXISTS pawl.outbox_discard(bigint[]);
DROP FUNCTION IF EXISTS pawl.outbox_claim_open(text, text, uuid, interval, integer, integer, timestamptz, interval, text);

ALTER TABLE pawl.outbox_exception ADD COLUMN failed_at timestamptz, ADD COLUMN discard_id uuid;
