-- Messages enqueued through SQL have ids of their own, above 2^47: the newest below that is
-- another one.
WITH m AS MATERIALIZED (
  (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT @sample) UNION
  (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT @sample) UNION
  (SELECT id FROM pawl.outbox_message WHERE id < 140737488355328 ORDER BY id DESC LIMIT @sample)),
p AS MATERIALIZED (
  SELECT m.id, EXISTS (SELECT FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, m.id))::int
             + EXISTS (SELECT FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, m.id))::int
             + EXISTS (SELECT FROM pawl.outbox_done  d WHERE pawl.covers(pawl.outbox_done, d, m.id))::int
             + EXISTS (SELECT FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3)::int AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT @most
