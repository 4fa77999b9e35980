-- held_rows(held)
-- The messages of runs that a claim holds, as it returns them, in order.
SELECT pawl.message(m), h.retry, h.priority, h.locked_until, h.at, h.length FROM pawl.held_messages({held}) ORDER BY h.nr
