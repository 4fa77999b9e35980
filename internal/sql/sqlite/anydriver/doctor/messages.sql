WITH m AS MATERIALIZED (
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT @sample) UNION
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT @sample)),
p AS MATERIALIZED (
  SELECT m.id, (pawl.holds(pawl.outbox_ready, m.id))
             + (pawl.holds(pawl.outbox_claim, m.id))
             + (pawl.holds(pawl.outbox_done, m.id))
             + EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT @most
