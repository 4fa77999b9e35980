-- Is there such a join? One row affected if so. $1 id. Runs in a caller's transaction.
SELECT 1 FROM pawl.outbox_join WHERE join_id = $1 FOR KEY SHARE
