-- Is there such a join? One row affected if so. $1 id. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.outbox_join_known($1))
