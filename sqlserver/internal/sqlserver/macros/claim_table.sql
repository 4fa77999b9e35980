-- claim_table()
-- Not outbox_claim: tables and procedures share their names (error 2714).
pawl.outbox_claimed
