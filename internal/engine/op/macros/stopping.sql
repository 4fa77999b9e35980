-- stopping(s)
-- Whether the attempt that a row of outbox_stopping is about still has its claim.
EXISTS (SELECT 1 FROM pawl.run_of(pawl.claim_table(), {s}.id) c WHERE c.lo + c.n > {s}.id AND ({s}.owner IS NULL OR c.owner = {s}.owner))
