-- Lay claimed runs aside whose topic is paused. $1 owners, $2 first ids, $3 lengths, $4 topics.
SELECT pawl.outbox_park_runs($1, $2, $3, $4)
