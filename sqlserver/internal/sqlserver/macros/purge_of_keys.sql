-- purge_of_keys(lo, n)
-- The keys of deleted messages: those whose period is under way are marked, the others deleted. A
-- key that an enqueue holds is left to that: it takes it for its own message.
DELETE FROM pawl.outbox_unique WITH (XLOCK, READPAST, READCOMMITTEDLOCK) WHERE id >= {lo} AND id < {lo} + {n} AND (until IS NULL OR until <= @now);
UPDATE pawl.outbox_unique WITH (XLOCK, READPAST, READCOMMITTEDLOCK) SET id = 0 WHERE id >= {lo} AND id < {lo} + {n};
