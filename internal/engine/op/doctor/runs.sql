WITH r AS MATERIALIZED (
  SELECT * FROM (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo pawl.limit(@sample)) a UNION SELECT * FROM (SELECT lo, n FROM pawl.outbox_ready ORDER BY lo DESC pawl.limit(@sample)) b UNION
  SELECT * FROM (SELECT lo, n FROM pawl.claim_table() ORDER BY lo pawl.limit(@sample)) c UNION SELECT * FROM (SELECT lo, n FROM pawl.claim_table() ORDER BY lo DESC pawl.limit(@sample)) d),
m AS MATERIALIZED (
  SELECT f.lo, f.n - (SELECT count(*) FROM pawl.outbox_message x WHERE x.id >= f.lo AND x.id < f.lo + f.n) AS missing
    FROM (SELECT r.lo, CASE WHEN r.n < @look THEN r.n ELSE @look END AS n FROM r) f)
SELECT m.lo, m.missing FROM m WHERE m.missing > 0 ORDER BY m.lo pawl.limit(@most)
