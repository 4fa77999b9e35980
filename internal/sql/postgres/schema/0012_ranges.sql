-- lowest: 5
-- Routines that have other parameters now, or more: replacing them would leave the old ones beside them, and
-- a call that fits both is refused.
DROP FUNCTION IF EXISTS pawl.outbox_claim_open(text, boolean, text, uuid, interval, integer, integer, timestamptz, interval, text);
DROP FUNCTION IF EXISTS pawl.outbox_claim_lanes(text, bigint[], uuid, interval, integer, integer, timestamptz, interval);
DROP FUNCTION IF EXISTS pawl.outbox_claim_within_limits(text, text, uuid, interval, integer, integer, timestamptz, interval, text);
DROP FUNCTION IF EXISTS pawl.outbox_reap_runs(integer, integer);
