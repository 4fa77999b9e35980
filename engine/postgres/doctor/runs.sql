-- Runs that may be claimed, or are, but whose messages are not there, among the
-- $1 newest and oldest of each; of a run the first $2 ids are looked at. First id
-- and how many are missing. At most $3.
WITH r AS MATERIALIZED (
  (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo LIMIT $1) UNION (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo DESC LIMIT $1) UNION
  (SELECT lo, n FROM pawl.outbox_claim ORDER BY lo LIMIT $1) UNION (SELECT lo, n FROM pawl.outbox_claim ORDER BY lo DESC LIMIT $1)),
m AS MATERIALIZED (
  SELECT r.lo, least(r.n, $2::int) - (SELECT count(*) FROM pawl.outbox_message x WHERE x.id >= r.lo AND x.id < r.lo + least(r.n, $2::int)) AS missing FROM r)
SELECT m.lo, m.missing FROM m WHERE m.missing > 0 ORDER BY m.lo LIMIT $3
