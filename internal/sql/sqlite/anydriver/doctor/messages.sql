WITH m AS MATERIALIZED (
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id LIMIT @sample) UNION
  SELECT * FROM (SELECT id FROM pawl.outbox_message ORDER BY id DESC LIMIT @sample)),
p AS MATERIALIZED (
  SELECT m.id, EXISTS (SELECT 1 FROM pawl.outbox_ready r WHERE pawl.covers(pawl.outbox_ready, r, m.id))
             + EXISTS (SELECT 1 FROM pawl.outbox_claim c WHERE pawl.covers(pawl.outbox_claim, c, m.id))
             + EXISTS (SELECT 1 FROM pawl.outbox_done  d WHERE pawl.covers(pawl.outbox_done, d, m.id))
             + EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = m.id AND e.status >= 3) AS places FROM m)
SELECT p.id, p.places FROM p WHERE p.places <> 1 ORDER BY p.id LIMIT @most
