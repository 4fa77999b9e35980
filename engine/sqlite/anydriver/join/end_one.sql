-- End the pending join ?2: cancelled (?3 = 3), or failed (2) if its deadline has passed. ?1 now.
UPDATE pawl.outbox_join SET status = ?3, last_updated_utc = ?1 WHERE join_id = ?2 AND status = 0 AND (?3 = 3 OR deadline_utc <= ?1)
