-- Put a claimed wait aside until its join is over. $1 join, $2 owner, $3 position.
-- Answers how many were put aside: 0 if the lease is lost.
SELECT pawl.outbox_join_park($1, $2, $3)
