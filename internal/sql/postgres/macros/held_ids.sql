-- held_ids(held)
-- The messages' ids of runs that a claim under limits holds, in order.
ARRAY(SELECT i.id FROM unnest({held}) WITH ORDINALITY h(lo, n, retry, priority, locked_until, at, length, nr) CROSS JOIN LATERAL generate_series(h.lo, h.lo + h.n - 1) i(id) ORDER BY h.nr, i.id)
