-- A failed join whose steps are all counted is completed after all: a wait that
-- does not mind failures says so. ?1 now, ?2 id.
UPDATE pawl.outbox_join SET status = 1, last_updated_utc = ?1
 WHERE join_id = ?2 AND status = 2 AND completed_steps + failed_steps = expected_steps
