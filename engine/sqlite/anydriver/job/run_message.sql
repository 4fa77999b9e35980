-- The message of the run at ?3 of job ?2, unless it is only a record. ?1 now.
INSERT INTO pawl.outbox_message (id, message_id, lane, topic, headers, payload, created_at, due_at)
SELECT r.id, r.run_id, j.lane, j.topic, j.headers, j.payload, ?1, r.scheduled_time
  FROM pawl.job_run r, pawl.job j WHERE r.id = ?3 AND r.outcome IS NULL AND j.id = ?2
