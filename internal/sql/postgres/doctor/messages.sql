-- Messages enqueued through SQL have ids of their own, above 2^47: the newest below that is
-- another one.
WITH m AS MATERIALIZED (
  (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT @sample) UNION
  (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT @sample) UNION
  (SELECT id FROM pawl.outbox_message WHERE id < 140737488355328 ORDER BY id DESC LIMIT @sample)),
p AS MATERIALIZED (
  SELECT m.id, (pawl.holds(pawl.outbox_ready, m.id))::int
             + (pawl.holds(pawl.outbox_claim, m.id))::int
             + (pawl.holds(pawl.outbox_done, m.id))::int
             + EXISTS (SELECT FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3)::int AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT @most
