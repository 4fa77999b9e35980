-- Runs that may be claimed, or are, but whose messages are not there, among the
-- ?2 newest and oldest of each; of a run the first ?3 ids are looked at. First id
-- and how many are missing. At most ?4.
WITH r AS MATERIALIZED (
  SELECT * FROM (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo LIMIT ?2) UNION SELECT * FROM (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo DESC LIMIT ?2) UNION
  SELECT * FROM (SELECT lo, n FROM pawl.outbox_claim ORDER BY lo LIMIT ?2) UNION SELECT * FROM (SELECT lo, n FROM pawl.outbox_claim ORDER BY lo DESC LIMIT ?2)),
m AS MATERIALIZED (
  SELECT r.lo, min(r.n, ?3) - (SELECT count(*) FROM pawl.outbox_message x WHERE x.id >= r.lo AND x.id < r.lo + min(r.n, ?3)) AS missing FROM r)
SELECT m.lo, m.missing FROM m WHERE m.missing > 0 ORDER BY m.lo LIMIT ?4
