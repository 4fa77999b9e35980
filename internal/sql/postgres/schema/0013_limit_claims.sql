-- lowest: 5
-- What a claim took under a limit is one row: its first message, and the others. A row for each of 62
-- messages took the server 9 microseconds a message, and as long again to count and to delete them.
ALTER TABLE pawl.outbox_limit_claim ADD more bigint[];
DROP FUNCTION IF EXISTS pawl.outbox_limit_grant(text, boolean, text, text[], boolean[], smallint[], bigint[]);
DROP FUNCTION IF EXISTS pawl.outbox_limit_room(text, text, integer);
DROP FUNCTION IF EXISTS pawl.outbox_limit_use(text, text, bigint[]);
DROP FUNCTION IF EXISTS pawl.outbox_divert(text, uuid, bigint[], text[]);
DROP FUNCTION IF EXISTS pawl.outbox_claim_lanes(text, bigint[], uuid, interval, integer, integer, timestamptz[], timestamptz[], interval);
-- A run of messages that a claim under limits holds, before it reads them, and messages that count against a limit.
CREATE TYPE pawl.outbox_held AS (lo bigint, n integer, retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer);
CREATE TYPE pawl.outbox_counted AS (name text, ids bigint[]);
-- Claims under a rate update its row, and read it several times: few versions of it are kept on its page.
ALTER TABLE pawl.outbox_limit SET (fillfactor = 10);
