-- Take the failures of message ?2 back from the counters of pending joins
-- (D-38); reopen_members does so for its members. ?1 now.
UPDATE pawl.outbox_join SET failed_steps = failed_steps - 1, last_updated_utc = ?1
 WHERE status = 0 AND join_id IN (SELECT join_id FROM pawl.outbox_join_member WHERE status = 2 AND id = ?2)
