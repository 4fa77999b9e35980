-- Messages that are not in exactly one place, among the $1 newest and the $1
-- oldest (those enqueued through SQL have ids of their own, above 2^47): their
-- positions and in how many places they are. At most $2.
WITH m AS MATERIALIZED (
  (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT $1) UNION
  (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT $1) UNION
  (SELECT id FROM pawl.outbox_message WHERE id < 140737488355328 ORDER BY id DESC LIMIT $1)),
p AS MATERIALIZED (
  SELECT m.id, EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= m.id) AND r.lo + r.n > m.id)::int
             + EXISTS (SELECT FROM pawl.outbox_claim c WHERE c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= m.id) AND c.lo + c.n > m.id)::int
             + EXISTS (SELECT FROM pawl.outbox_done  d WHERE d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= m.id) AND d.lo + d.n > m.id)::int
             + EXISTS (SELECT FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3)::int AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT $2
