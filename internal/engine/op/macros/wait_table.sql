-- wait_table()
-- The table that says which join a message waits for; see claim_table.
pawl.outbox_join_wait
