-- lowest: 5
-- What a message's last error has in common with others of its kind: what Go programs make of it. Null
-- is a text that another one recorded; see the macro print. Routines that have other parameters now:
-- replacing them would leave the old ones beside them.
DROP FUNCTION IF EXISTS pawl.outbox_abandon_runs(uuid[], bigint[], integer[], interval[], text[], text, integer, boolean[], boolean[]);
DROP FUNCTION IF EXISTS pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[], boolean, boolean[], text, integer, boolean[]);
DROP FUNCTION IF EXISTS pawl.outbox_dead_pick(bigint[], text, text, text, timestamptz, timestamptz, bigint, integer, bigint);

ALTER TABLE pawl.outbox_exception ADD COLUMN fingerprint text;
ALTER TABLE pawl.outbox_bulk ADD COLUMN fingerprint text;
