-- Count a step by hand. $1 join, $2 message id, $3 status: 1 completed, 2 failed.
-- Rows affected: 0 unknown join, 1 counted, 2 was counted before or the join is
-- over, 3 no member. Runs in a caller's transaction.
SELECT 1 FROM generate_series(1, pawl.outbox_join_report_step($1, $2, $3))
