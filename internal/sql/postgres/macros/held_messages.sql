-- held_messages(held)
-- The messages of runs that a claim under limits holds, behind FROM: h and m, in order.
unnest({held}) WITH ORDINALITY h(lo, n, retry, priority, locked_until, at, length, nr)
CROSS JOIN LATERAL (SELECT * FROM pawl.outbox_message x WHERE x.id >= h.lo AND x.id < h.lo + h.n ORDER BY x.id OFFSET 0) m
