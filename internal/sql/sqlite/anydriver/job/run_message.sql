INSERT INTO pawl.outbox_message (id, message_id, lane, topic, headers, payload, created_at, due_at)
SELECT r.id, r.run_id, j.lane, j.topic, j.headers, j.payload, @now, r.scheduled_time
  FROM pawl.job_run r, pawl.job j WHERE r.id = @id AND r.outcome IS NULL AND j.id = @job_id
