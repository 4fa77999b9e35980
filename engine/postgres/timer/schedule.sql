-- Schedule timers. Arrays of equal length, or null where no timer has the field:
-- $1 positions, $2 ids, $3 topics, $4 correlation ids, $5 headers, $6 payloads,
-- $7 lanes, $8 due times (null: now), $9 supplied, $10 the position that a made id carries, or
-- 0, $11 keys. Runs in a caller's transaction.
SELECT pawl.timer_schedule_rows($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
