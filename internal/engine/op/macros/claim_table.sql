-- claim_table()
-- The table of the runs under lease. Its name is an engine's own where tables and procedures
-- share their names.
pawl.outbox_claim
