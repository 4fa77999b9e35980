-- lowest: 3
-- Routines that have other parameters now: replacing them would leave the old ones beside them.
DROP FUNCTION IF EXISTS pawl.outbox_abandon_runs(uuid[], bigint[], integer[], interval[], text[]);
DROP FUNCTION IF EXISTS pawl.outbox_fail_runs(uuid[], bigint[], integer[], text[], boolean);
DROP FUNCTION IF EXISTS pawl.outbox_reap_runs(integer);
DROP FUNCTION IF EXISTS pawl.outbox_claim_runs(text, uuid, interval, integer, integer, timestamptz);

-- The last attempts of a message that failed. Nothing is written for one that succeeds at
-- once. Numbers of attempts begin anew when a message is redriven, so they are no key.
-- No identity column: Citus does not undistribute a table that has one.
CREATE SEQUENCE pawl.outbox_attempt_nr_seq;
CREATE TABLE pawl.outbox_attempt (
  id       bigint NOT NULL,
  nr       bigint NOT NULL DEFAULT nextval('pawl.outbox_attempt_nr_seq'),
  attempt  integer NOT NULL,
  ended_at timestamptz NOT NULL,
  worker   text,
  error    text,
  PRIMARY KEY (id, nr)
);

-- What a handler of a step returned, for the join's follow-up. Nothing is written for one that
-- returned nothing.
CREATE TABLE pawl.outbox_join_result (
  join_id uuid NOT NULL,
  id      bigint NOT NULL, -- the step's position
  result  bytea NOT NULL,
  PRIMARY KEY (join_id, id)
);
