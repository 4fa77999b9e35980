-- Joins, newest first. ?1 now, ?2 below this id, ?3 grouping key or null, ?4 status or null, ?5 how many.
SELECT join_id, grouping_key, expected_steps, completed_steps, failed_steps, status, created_utc, last_updated_utc, metadata, deadline_utc,
       status = 0 AND coalesce(deadline_utc <= ?1, 0)
  FROM pawl.outbox_join_base WHERE join_id < ?2 AND (?3 IS NULL OR grouping_key = ?3) AND (?4 IS NULL OR status = ?4) ORDER BY join_id DESC LIMIT ?5
