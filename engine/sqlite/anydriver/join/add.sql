-- Add ?3 completed and ?4 failed steps to join ?2. The last step ends it. ?1 now.
UPDATE pawl.outbox_join SET completed_steps = completed_steps + ?3, failed_steps = failed_steps + ?4, last_updated_utc = ?1,
  status = CASE WHEN completed_steps + ?3 + failed_steps + ?4 < expected_steps THEN 0 WHEN failed_steps + ?4 > 0 THEN 2 ELSE 1 END
 WHERE join_id = ?2
