-- A failed join whose steps are all counted is completed after all: a wait that
-- does not mind failures says so. $1 id.
UPDATE pawl.outbox_join SET status = 1, last_updated_utc = clock_timestamp()
 WHERE join_id = $1 AND status = 2 AND completed_steps + failed_steps = expected_steps
