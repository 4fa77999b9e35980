-- Messages that are not in exactly one place, among the ?2 newest and the ?2
-- oldest: their positions and in how many places they are. At most ?3.
WITH m AS MATERIALIZED (
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT ?2) UNION
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT ?2)),
p AS MATERIALIZED (
  SELECT m.id, EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id)
             + EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= m.id) AND c.lo + c.n > m.id)
             + EXISTS (SELECT 1 FROM pawl.outbox_done  d WHERE d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= m.id) AND d.lo + d.n > m.id)
             + EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT ?3
