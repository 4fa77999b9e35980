-- Joins of a status, newest first. ?1 now, ?2 below this id, ?3 how many,
-- ?4 status. A statement of its own, because it has an index of its own.
SELECT join_id, grouping_key, expected_steps, completed_steps, failed_steps, status, created_utc, last_updated_utc, metadata, deadline_utc,
       status = 0 AND coalesce(deadline_utc <= ?1, 0)
  FROM pawl.outbox_join WHERE status = ?4 AND join_id < ?2 ORDER BY join_id DESC LIMIT ?3
