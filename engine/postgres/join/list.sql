-- Joins, newest first. $1 below this id, $2 how many.
SELECT join_id, grouping_key, expected_steps, completed_steps, failed_steps, status, created_utc, last_updated_utc, metadata, deadline_utc,
       status = 0 AND coalesce(deadline_utc <= clock_timestamp(), false)
  FROM pawl.outbox_join WHERE join_id < $1 ORDER BY join_id DESC LIMIT $2
