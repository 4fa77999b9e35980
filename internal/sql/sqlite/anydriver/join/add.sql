-- The last step ends the join.
UPDATE pawl.outbox_join SET completed_steps = completed_steps + @completed, failed_steps = failed_steps + @failed, last_updated_utc = @now,
  status = CASE WHEN completed_steps + @completed + failed_steps + @failed < expected_steps THEN 0 WHEN failed_steps + @failed > 0 THEN 2 ELSE 1 END
 WHERE join_id = @join_id
