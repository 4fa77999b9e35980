-- Lock join $1 until the transaction ends: its counters and members stay as they are.
SELECT 1 FROM pawl.outbox_join WHERE join_id = $1 FOR NO KEY UPDATE
